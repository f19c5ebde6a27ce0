#include "gui/timeline/lane_builder.h"

#include <algorithm>
#include <limits>

namespace pitwall::gui {
namespace {

// The first lane that is free at `start`; the last one when all are taken and there may be no more.
std::size_t freeLane(std::vector<TimeNs>& ends, TimeNs start) {
  for (std::size_t lane = 0; lane < ends.size(); ++lane) {
    if (ends[lane] <= start) return lane;
  }
  if (ends.size() < kMostLanes) ends.push_back(start);
  return ends.size() - 1;
}

}  // namespace

TimeNs LaneBuilder::endOfTime() { return std::numeric_limits<TimeNs>::max(); }

void LaneBuilder::sortIn() {
  const auto before = [](TimeNs a_start, TimeNs a_dur, const LateEvent& b) {
    return a_start != b.start_ns ? a_start < b.start_ns : a_dur >= b.dur_ns;
  };
  std::stable_sort(late_.begin(), late_.end(), [](const LateEvent& a, const LateEvent& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.dur_ns > b.dur_ns;
  });
  Lane sorted;
  sorted.reserve(rows_.size() + late_.size());
  std::size_t i = 0;
  for (const LateEvent& late : late_) {
    for (; i < rows_.size() && before(rows_.startNs(i), rows_.durNs(i), late); ++i)
      sorted.appendAny(rows_.startNs(i), rows_.durNs(i), rows_.look(i));
    sorted.appendAny(late.start_ns, late.dur_ns, late.look);
  }
  for (; i < rows_.size(); ++i) sorted.appendAny(rows_.startNs(i), rows_.durNs(i), rows_.look(i));
  rows_ = std::move(sorted);
  late_ = {};
}

std::vector<Lane> LaneBuilder::distribute() {
  std::vector<std::uint8_t> lane_of(rows_.size());
  static_assert(kMostLanes <= 256);
  std::vector<TimeNs> ends;
  std::vector<std::size_t> counts;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const std::size_t at = freeLane(ends, rows_.startNs(i));
    if (at == counts.size()) counts.push_back(0);
    ++counts[at];
    lane_of[i] = static_cast<std::uint8_t>(at);
    ends[at] = std::max(ends[at], rows_.endNs(i));
  }
  std::vector<Lane> lanes(counts.size());
  if (lanes.size() == 1) {
    lanes[0] = std::move(rows_);
    return lanes;
  }
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    lanes[lane].reserve(counts[lane]);
    ends[lane] = std::numeric_limits<TimeNs>::min();
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const std::size_t at = lane_of[i];
    const TimeNs start = std::max(rows_.startNs(i), ends[at]);
    const TimeNs end = std::max(start, rows_.endNs(i));
    lanes[at].appendAny(start, end - start, rows_.look(i));
    ends[at] = end;
  }
  return lanes;
}

std::vector<Lane> LaneBuilder::finish() {
  if (!late_.empty()) sortIn();
  std::vector<Lane> lanes;
  if (!rows_.empty()) lanes = distribute();
  *this = {};
  return lanes;
}

}  // namespace pitwall::gui
