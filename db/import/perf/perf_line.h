// The lines that `perf script` prints: the head of a sample, and the functions of its stack.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "db/event.h"

namespace pitwall::import {

// "python3 4711/4712 [001] 7214.032587: 250000 cpu-clock:uppp: " and what follows.
struct PerfHead {
  std::string_view command;  // may hold blanks
  std::int64_t pid = -1;     // -1 = not printed
  std::int64_t tid = 0;
  std::string_view cpu;  // digits; empty = not printed
  std::int64_t time_ns = 0;
  std::int64_t period = 0;  // 0 = not printed
  std::string_view event;   // with its modifiers, without the last colon
  std::string_view rest;    // of a sample without a stack: its function
};
std::optional<PerfHead> perfHead(std::string_view line);

// "55d3c1f0 std::sort<int*>(int*, int*)+0x1f (/usr/lib/libfoo.so)".
struct PerfFunction {
  std::string_view text;    // without the address and the offset in the function
  std::string_view symbol;  // empty = unknown
  std::string_view object;
};
std::optional<PerfFunction> perfFunction(std::string_view line);
// A function of Python that its perf trampoline names ("py::NAME:FILE") is one of Python.
FrameInfo perfFrame(const PerfFunction& function);

// Whether a period is CPU time in ns: of the software clocks.
bool isCpuClock(std::string_view event);
// Whether samples of the event stand for time: clocks, cycles, instructions; not page faults or "sched:sched_switch".
bool standsForTime(std::string_view event);

// Whether a text is the output of perf script, from its start.
bool isPerfScript(std::string_view start);

}  // namespace pitwall::import
