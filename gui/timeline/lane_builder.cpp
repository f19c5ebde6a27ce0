#include "gui/timeline/lane_builder.h"

#include <algorithm>
#include <limits>

namespace pitwall::gui {
namespace {

// An event that starts before ends before the end of time, unless its duration is long.
constexpr TimeNs kLatest = std::numeric_limits<TimeNs>::max() - static_cast<TimeNs>(Lane::kLong);

// The first lane that is free at `start`; the last one when all are taken and there may be no more.
std::size_t freeLane(std::vector<TimeNs>& ends, TimeNs start) {
  for (std::size_t lane = 0; lane < ends.size(); ++lane) {
    if (ends[lane] <= start) return lane;
  }
  if (ends.size() < kMostLanes) ends.push_back(start);
  return ends.size() - 1;
}

// Writes a lane of a known number of events.
class LaneWriter {
 public:
  explicit LaneWriter(std::size_t events) : start_(events), dur_(events), look_(events) {}

  TimeNs endNs() const { return end_; }  // of the last event
  void append(TimeNs start_ns, TimeNs end_ns, std::uint32_t look) {
    const TimeNs dur_ns = end_ns - start_ns;
    start_[next_] = start_ns;
    dur_[next_] = Lane::shortDur(dur_ns);
    look_[next_] = look;
    if (Lane::isLong(dur_ns)) long_dur_.push_back({next_, dur_ns});
    end_ = end_ns;
    ++next_;
  }
  Lane finish() {
    LaneColumns columns;
    columns.start = Column<TimeNs>(std::move(start_));
    columns.dur = Column<std::uint32_t>(std::move(dur_));
    columns.look = Column<std::uint32_t>(std::move(look_));
    columns.long_dur = Column<LongDuration>(std::move(long_dur_));
    return Lane(std::move(columns));
  }

 private:
  std::vector<TimeNs> start_;
  std::vector<std::uint32_t> dur_, look_;
  std::vector<LongDuration> long_dur_;
  std::size_t next_ = 0;
  TimeNs end_ = std::numeric_limits<TimeNs>::min();
};

}  // namespace

void LaneBuilder::add(TimeNs start_ns, TimeNs dur_ns, std::uint32_t look) {
  if (dur_ns < 0) dur_ns = 0;
  TimeNs end = 0;
  if (__builtin_add_overflow(start_ns, dur_ns, &end)) dur_ns = std::numeric_limits<TimeNs>::max() - start_ns;
  // Of two that start together the one around the other comes first.
  if (!rows_.empty() && (start_ns < last_start_ || (start_ns == last_start_ && dur_ns > last_dur_))) {
    late_.push_back({start_ns, dur_ns, look});
    return;
  }
  last_start_ = start_ns;
  last_dur_ = dur_ns;
  rows_.appendAny(start_ns, dur_ns, look);
}

void LaneBuilder::add(std::span<const TimeNs> start_ns, std::span<const TimeNs> dur_ns,
                      std::span<const std::uint32_t> looks) {
  if (start_ns.empty()) return;
  if (followInOrder(start_ns, dur_ns)) {
    rows_.appendAll(start_ns, dur_ns, looks);
    last_start_ = start_ns.back();
    last_dur_ = dur_ns.back();
    return;
  }
  for (std::size_t i = 0; i < start_ns.size(); ++i) add(start_ns[i], dur_ns[i], looks[i]);
}

// Whether they can be appended as they are. Without a branch, as it is nearly always so.
bool LaneBuilder::followInOrder(std::span<const TimeNs> start_ns, std::span<const TimeNs> dur_ns) const {
  bool in_order = rows_.empty() || start_ns[0] > last_start_;
  TimeNs last_start = start_ns[0], last_dur = dur_ns[0];
  for (std::size_t i = 0; i < start_ns.size(); ++i) {
    const TimeNs start = start_ns[i], dur = dur_ns[i];
    in_order &= (start > last_start) | ((start == last_start) & (dur <= last_dur));
    in_order &= (dur >= 0) & (dur < static_cast<TimeNs>(Lane::kLong)) & (start < kLatest);
    last_start = start;
    last_dur = dur;
  }
  return in_order;
}

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
  const LaneView rows(rows_);
  std::vector<std::uint8_t> lane_of(rows.size());
  static_assert(kMostLanes <= 256);
  std::vector<TimeNs> ends;
  std::vector<std::size_t> counts;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t at = freeLane(ends, rows.startNs(i));
    if (at == counts.size()) counts.push_back(0);
    ++counts[at];
    lane_of[i] = static_cast<std::uint8_t>(at);
    ends[at] = std::max(ends[at], rows.endNs(i));
  }
  if (counts.size() == 1) {
    std::vector<Lane> lanes;
    lanes.push_back(std::move(rows_));
    return lanes;
  }
  std::vector<LaneWriter> writers(counts.begin(), counts.end());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    LaneWriter& lane = writers[lane_of[i]];
    const TimeNs start = std::max(rows.startNs(i), lane.endNs());
    lane.append(start, std::max(start, rows.endNs(i)), rows.look(i));
  }
  std::vector<Lane> lanes;
  for (LaneWriter& writer : writers) lanes.push_back(writer.finish());
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
