// Operator facts that Pitwall's own writers put into the arguments of an event (docs/export.md,
// docs/profiler.md).
#pragma once

#include <string>
#include <string_view>

#include "db/event.h"
#include "db/import/chrome/chrome_event.h"

namespace pitwall::import {

// The argument as clean text; empty when it is not text.
std::string textArg(const ChromeEvent& event, std::string_view key);
// 0 when it is not a number.
std::int64_t integerArg(const ChromeEvent& event, std::string_view key);
// The enumerator of this name, among 0..last; else the first.
template <class Enum>
Enum enumeratorOf(std::string_view text, Enum last) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (text == toString(static_cast<Enum>(i))) return static_cast<Enum>(i);
  }
  return Enum{};
}

// Layer, shapes, dtype, backend, implementation, phase, flop, bytes_read and bytes_written, as far as
// present; no name.
OperatorFacts operatorArgs(const ChromeEvent& event);
// Whether the event has an argument that operatorArgs() does not take.
bool hasOtherArgs(const ChromeEvent& event);

}  // namespace pitwall::import
