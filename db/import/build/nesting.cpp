#include "db/import/build/nesting.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace pitwall::import {
namespace {

constexpr std::size_t kDeepest = std::numeric_limits<std::uint16_t>::max();

bool startsBefore(const Event& a, const Event& b) {
  return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.dur_ns > b.dur_ns;
}

// Merges two neighbouring sorted runs; the first wins ties. Only the overlapping part is moved.
void mergeRuns(std::vector<Event>& events, std::size_t from, std::size_t middle, std::size_t to,
               std::vector<Event>& scratch) {
  const auto at = [&](std::size_t i) { return events.begin() + static_cast<std::ptrdiff_t>(i); };
  if (!startsBefore(events[middle], events[middle - 1])) return;
  const auto first = std::upper_bound(at(from), at(middle), events[middle], startsBefore);
  const auto last = std::lower_bound(at(middle), at(to), events[middle - 1], startsBefore);
  scratch.assign(first, at(middle));
  auto left = scratch.begin();
  auto right = at(middle);
  for (auto to_fill = first; left != scratch.end(); ++to_fill) {  // never overtakes `right`
    *to_fill = right != last && startsBefore(*right, *left) ? *right++ : *left++;
  }
}

// By start, the longer first; equal ones keep their order. Profilers write long sorted runs (a step's
// operators, then its launches), so whole runs are merged.
void sortByStart(std::vector<Event>& events, std::vector<Event>& scratch) {
  std::vector<std::size_t> bounds = {0};
  for (std::size_t i = 1; i < events.size(); ++i) {
    if (startsBefore(events[i], events[i - 1])) bounds.push_back(i);
  }
  bounds.push_back(events.size());
  while (bounds.size() > 2) {
    std::vector<std::size_t> fewer = {0};
    for (std::size_t i = 2; i < bounds.size(); i += 2) {
      mergeRuns(events, bounds[i - 2], bounds[i - 1], bounds[i], scratch);
      fewer.push_back(bounds[i]);
    }
    if (fewer.back() != events.size()) fewer.push_back(events.size());
    bounds = std::move(fewer);
  }
}

}  // namespace

void Nesting::apply(std::vector<Event>& events, std::vector<std::int64_t>& open, std::string_view thread) {
  sortByStart(events, sorted_);
  ImportCount* overlaps = nullptr;
  for (Event& event : events) {
    const std::int64_t end = event.start_ns + event.dur_ns;
    while (!open.empty() && open.back() <= event.start_ns) open.pop_back();
    if (!open.empty() && open.back() < end && !thread.empty()) {
      if (overlaps == nullptr)
        overlaps = &tally_.repairedCounter(
            "events that overlap on their thread without one enclosing the other: both kept");
      Tally::count(*overlaps,
                   [&] { return fmt::format("two events of thread {} at {} ns", thread, event.start_ns); });
    }
    event.depth = static_cast<std::uint16_t>(std::min<std::size_t>(open.size(), kDeepest));
    if (event.dur_ns > 0 && open.size() < kDeepest) open.push_back(end);
  }
}

}  // namespace pitwall::import
