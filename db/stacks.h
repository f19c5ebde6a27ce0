// Sampled stacks: the time that their samples stand for, and copies from a trace to a sink, whose stacks have other
// numbers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "db/reader.h"
#include "db/sink.h"

namespace pitwall {

// The name of a counter with the unit kStackUnit, of a thread whose stacks are those of Python functions: the native function
// that it executes, without its callers; 0 = it waits, or unknown.
inline constexpr char kNativeFunctionTrack[] = "native function";

// The sink's number of each of the trace's stacks, index = StackId.value - 1.
inline std::vector<StackId> copyStacks(const Trace& from, TraceSink& to) {
  std::vector<FrameId> frames;
  for (const FrameInfo& frame : from.frames()) frames.push_back(to.frame(frame));
  std::vector<StackId> stacks;
  for (const StackInfo& stack : from.stacks()) {
    const StackId caller = stack.caller ? stacks[stack.caller.value - 1] : StackId{};
    stacks.push_back(to.stack({caller, frames[stack.frame.value - 1]}));
  }
  return stacks;
}

// The stack that a sample of a counter with the unit kStackUnit refers to; none when there is no such stack.
inline StackId stackOf(const CounterSample& sample, std::size_t stacks) {
  const bool valid = sample.value >= 1 && sample.value <= static_cast<double>(stacks);
  return valid ? StackId{static_cast<std::uint32_t>(sample.value)} : StackId{};
}

// The time in ns that each sample of such a counter stands for: until the next one, but 0 before a gap of more than 20
// times the thread's median one or of more than a minute, in which nothing was sampled, and 0 for the last one. The
// samples are ordered by time. The sum of fewer than 10^8 samples' times does not overflow.
std::vector<TimeNs> stackTimes(std::span<const CounterSample> samples);

// Gives samples of such a counter their new numbers.
inline void remapStacks(std::vector<CounterSample>& samples, const std::vector<StackId>& stacks) {
  for (CounterSample& sample : samples) {
    const StackId old = stackOf(sample, stacks.size());
    sample.value = old ? stacks[old.value - 1].value : 0;
  }
}

}  // namespace pitwall
