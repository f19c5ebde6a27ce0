#include "db/import/nsys/nsight_rows.h"

#include <limits>

namespace pitwall::import {

Event NsightRows::times(const store::ForeignRow& row) {
  Event event;
  event.start_ns = row.integer(0);
  const std::int64_t end = row.isNull(1) ? event.start_ns : row.integer(1);
  // Clamped: a difference of values from a file may overflow.
  constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max() / 2;
  const bool wild = end > kFar || end < -kFar || event.start_ns > kFar || event.start_ns < -kFar;
  event.dur_ns = wild ? std::numeric_limits<std::int64_t>::max() : end - event.start_ns;
  return event;
}

ProcessRef NsightRows::process(std::int64_t global_pid) {
  return processes_.get(global_pid, [&] {
    const ProcessRef made = builder_.tracks().process(std::to_string(global_pid));
    builder_.tracks().setPid(made, pidOf(global_pid));
    return made;
  });
}

TrackRef NsightRows::thread(std::int64_t global_tid) {
  return threads_.get(global_tid, [&] {
    return builder_.tracks().thread(process(globalProcess(global_tid)), std::to_string(tidOf(global_tid)));
  });
}

}  // namespace pitwall::import
