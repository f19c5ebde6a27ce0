// Sums over the events of a time range, by name.
#pragma once

#include <atomic>
#include <vector>

#include "gui/timeline/timeline.h"

namespace pitwall::gui {

struct AggregateRow {
  std::uint32_t name = 0;  // StringId.value
  std::int64_t count = 0;
  TimeNs total_ns = 0;  // of the parts within the range
  TimeNs self_ns = 0;   // total_ns less that of events directly within them; set by addSelfTimes()
  TimeNs mean_ns = 0, p50_ns = 0, p99_ns = 0, min_ns = 0, max_ns = 0;  // of whole durations
};

// Of one group's whole durations, at least one; reorders them.
AggregateRow summarize(std::uint32_t name, TimeNs total_ns, std::vector<TimeNs>& durations);

// Of all events; empty when they have too many names.
DurationClasses classesOfAll(const Timeline& timeline);

// Rows by total time, highest first, of every event that touches [from, to) on the tracks given (indices into
// timeline.tracks). Stops early, with what it has, when *cancel becomes true.
std::vector<AggregateRow> aggregate(const Timeline& timeline, const std::vector<std::size_t>& tracks,
                                    TimeNs from, TimeNs to, const std::atomic<bool>* cancel = nullptr);

}  // namespace pitwall::gui
