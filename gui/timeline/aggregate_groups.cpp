#include "gui/timeline/aggregate_groups.h"

#include <algorithm>

namespace pitwall::gui {
namespace {

// Durations of the groups that have several names; the rows of others are those of their name.
class ListedGroups {
 public:
  explicit ListedGroups(const NameGroups& groups) : groups_(groups), of_(groups.titles.size()) {}

  bool isListed(std::uint32_t name) const {
    // Unused names are empty, and at most one that is used.
    return name < groups_.group_of.size() && groups_.sizes[groups_.group_of[name]] > 1 &&
           !groups_.titles[groups_.group_of[name]].empty();
  }
  void add(const Lane& lane, TimeNs from, TimeNs to) {
    const std::size_t end = lane.firstAt(to);
    for (std::size_t i = lane.firstReaching(from); i < end; ++i) {
      if (!isListed(lane.name(i))) continue;
      Group& group = of_[groups_.group_of[lane.name(i)]];
      group.total += std::min(lane.endNs(i), to) - std::max(lane.startNs(i), from);
      group.durations.push_back(lane.durNs(i));
    }
  }
  void finish(std::vector<AggregateRow>& rows) {
    for (std::size_t g = 0; g < of_.size(); ++g) {
      if (!of_[g].durations.empty())
        rows.push_back(summarize(static_cast<std::uint32_t>(g), of_[g].total, of_[g].durations));
    }
  }

 private:
  struct Group {
    TimeNs total = 0;
    std::vector<TimeNs> durations;
  };
  const NameGroups& groups_;
  std::vector<Group> of_;
};

// The time of events within others, by what is around them.
class NestedTimes {
 public:
  NestedTimes(TimeNs from, TimeNs to, std::span<const std::uint32_t> group_of)
      : from_(from), to_(to), group_of_(group_of) {}

  void add(const TimelineTrack& track) {
    for (std::size_t l = 1; l < track.lanes.size(); ++l) addLane(track, l);
  }
  TimeNs of(std::uint32_t id) const { return id < within_.size() ? within_[id] : 0; }

 private:
  void addLane(const TimelineTrack& track, std::size_t l) {
    const Lane& lane = track.lanes[l];
    std::vector<std::size_t> at(l);  // in each lane above, the first event that may be around
    for (std::size_t j = 0; j < l; ++j) at[j] = track.lanes[j].firstReaching(from_);
    const std::size_t end = lane.firstAt(to_);
    for (std::size_t i = lane.firstReaching(from_); i < end; ++i) {
      for (std::size_t j = l; j-- > 0;) {
        const Lane& above = track.lanes[j];
        while (at[j] < above.size() && above.endNs(at[j]) < lane.endNs(i)) ++at[j];
        if (at[j] == above.size() || above.startNs(at[j]) > lane.startNs(i)) continue;
        const std::uint32_t name = above.name(at[j]);
        add(name < group_of_.size() ? group_of_[name] : name,
            std::min(lane.endNs(i), to_) - std::max(lane.startNs(i), from_));
        break;
      }
    }
  }
  void add(std::uint32_t id, TimeNs time) {
    if (id >= within_.size()) within_.resize(std::max<std::size_t>(id + 1, 2 * within_.size()));
    within_[id] += time;
  }

  TimeNs from_, to_;
  std::span<const std::uint32_t> group_of_;
  std::vector<TimeNs> within_;
};

}  // namespace

std::vector<AggregateRow> aggregateGroups(const Timeline& timeline, const std::vector<std::size_t>& tracks,
                                          TimeNs from, TimeNs to, const std::atomic<bool>* cancel) {
  const NameGroups& groups = timeline.groups;
  std::vector<AggregateRow> rows;
  ListedGroups listed(groups);
  for (AggregateRow row : aggregate(timeline, tracks, from, to, cancel)) {
    if (listed.isListed(row.name)) continue;
    if (row.name < groups.group_of.size()) row.name = groups.group_of[row.name];
    rows.push_back(row);
  }
  if (groups.any) {
    for (const std::size_t track : tracks) {
      for (const Lane& lane : timeline.tracks[track].lanes) {
        if (cancel != nullptr && cancel->load()) return rows;
        listed.add(lane, from, to);
      }
    }
    listed.finish(rows);
  }
  std::sort(rows.begin(), rows.end(), [](const AggregateRow& a, const AggregateRow& b) {
    return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.name < b.name;
  });
  return rows;
}

void addSelfTimes(const Timeline& timeline, const std::vector<std::size_t>& tracks, TimeNs from, TimeNs to,
                  std::span<const std::uint32_t> group_of, std::vector<AggregateRow>& rows,
                  const std::atomic<bool>* cancel) {
  NestedTimes nested(from, to, group_of);
  for (const std::size_t track : tracks) {
    if (cancel != nullptr && cancel->load()) return;
    nested.add(timeline.tracks[track]);
  }
  for (AggregateRow& row : rows) row.self_ns = std::max<TimeNs>(0, row.total_ns - nested.of(row.name));
}

}  // namespace pitwall::gui
