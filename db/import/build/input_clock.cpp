#include "db/import/build/input_clock.h"

namespace pitwall::import {

void InputClock::expectFrom(std::int64_t time_ns) {
  if (!inRange(time_ns)) return;
  input_.has_span = true;
  input_.earliest = input_.latest = time_ns;
}

std::int64_t InputClock::zero() {
  if (!input_.zero) input_.zero = input_.earliest - input_.placed.value_or(0);
  return *input_.zero;
}

TimeNs InputClock::placeRows(TimeNs first_ns, TimeNs last_ns) {
  input_.zero = -input_.placed.value_or(0);
  extend(first_ns, last_ns);
  return -*input_.zero;
}

void InputClock::endInput(ImportSummary& summary, bool is_first) {
  if (input_.has_span) {
    const std::int64_t begin = input_.earliest - zero();
    const std::int64_t end = input_.latest - zero();
    summary.begin_ns = has_total_span_ ? std::min(summary.begin_ns, begin) : begin;
    summary.end_ns = has_total_span_ ? std::max(summary.end_ns, end) : end;
    has_total_span_ = true;
  }
  if (input_.zero_unix_ns && is_first) trace_start_unix_ns_ = *input_.zero_unix_ns + zero();
}

}  // namespace pitwall::import
