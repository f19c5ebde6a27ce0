#include "gui/models/range_groups.h"

#include <algorithm>
#include <map>

namespace pitwall::gui {
namespace {

class Groups {
 public:
  Groups(TimeNs from, TimeNs to) : from_(from), to_(to) {}

  void add(std::size_t group, TimeNs start, TimeNs dur) {
    const TimeNs end = start + dur;
    if (start >= to_ || (dur > 0 ? end <= from_ : start < from_)) return;
    if (group >= groups_.size()) groups_.resize(group + 1);
    groups_[group].total += std::min(end, to_) - std::max(start, from_);
    groups_[group].durations.push_back(dur);
  }

  void finish(GroupedRows& answer) {
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      if (groups_[i].durations.empty()) continue;
      answer.rows.push_back(summarize(static_cast<std::uint32_t>(i), groups_[i].total, groups_[i].durations));
    }
    std::stable_sort(answer.rows.begin(), answer.rows.end(),
                     [](const AggregateRow& a, const AggregateRow& b) { return a.total_ns > b.total_ns; });
  }

 private:
  struct Group {
    TimeNs total = 0;
    std::vector<TimeNs> durations;
  };
  TimeNs from_, to_;
  std::vector<Group> groups_;
};

// Group of each operator, and what the groups are called; the last stands for what is no operator.
std::vector<std::size_t> operatorGroups(const Trace& trace, RangeGrouping grouping,
                                        std::vector<std::string>& labels) {
  std::map<std::string, std::size_t> known;
  std::vector<std::size_t> group_of;
  const auto groupOf = [&](const std::string& label) {
    const auto [at, is_new] = known.try_emplace(label, labels.size());
    if (is_new) labels.push_back(label);
    return at->second;
  };
  for (const OperatorFacts& facts : trace.operatorFacts()) {
    const std::string label = grouping == RangeGrouping::phase ? toString(facts.phase) : facts.layer;
    group_of.push_back(groupOf(label.empty() ? "(no layer)" : label));
  }
  group_of.push_back(groupOf("(no operator)"));
  return group_of;
}

}  // namespace

GroupedRows groupTracks(const Timeline& timeline, const std::vector<std::size_t>& tracks, TrackKind kind,
                        TimeNs from, TimeNs to, const std::atomic<bool>& cancel) {
  GroupedRows answer;
  Groups groups(from, to);
  for (const std::size_t track : tracks) {
    if (timeline.tracks[track].kind != kind) continue;
    answer.labels.push_back(timeline.tracks[track].title);
    answer.tracks.push_back(track);
    for (const Lane& lane : timeline.tracks[track].lanes) {
      if (cancel.load()) return answer;
      for (std::size_t i = lane.firstReaching(from); i < lane.size() && lane.startNs(i) < to; ++i)
        groups.add(answer.labels.size() - 1, lane.startNs(i), lane.durNs(i));
    }
  }
  groups.finish(answer);
  return answer;
}

GroupedRows groupEvents(Trace& trace, const Timeline& timeline, const std::vector<std::size_t>& tracks,
                        RangeGrouping grouping, TimeNs from, TimeNs to, const std::atomic<bool>& cancel) {
  GroupedRows answer;
  Groups groups(from, to);
  const bool by_kind = grouping == RangeGrouping::category;
  std::vector<std::size_t> group_of;
  if (by_kind) {
    for (int kind = 0; kind <= static_cast<int>(EventKind::communication); ++kind)
      answer.labels.emplace_back(toString(static_cast<EventKind>(kind)));
  } else {
    group_of = operatorGroups(trace, grouping, answer.labels);
  }
  for (const std::size_t track : tracks) {
    if (timeline.tracks[track].lanes.empty()) continue;
    const EventSelection selection{.track = timeline.tracks[track].id,
                                   .from_ns = from,
                                   .to_ns = to,
                                   .fields = kStart | kDur | (by_kind ? kKind : kOperator)};
    const Status status = trace.eventColumns(selection, [&](const EventSpans& spans) {
      for (std::size_t i = 0; i < spans.size; ++i) {
        const std::int64_t value = by_kind ? spans.kind[i] : spans.op[i];
        const std::size_t last = by_kind ? answer.labels.size() - 1 : group_of.size() - 1;
        // Operators count from 1; 0 is none.
        const auto at = std::min(static_cast<std::size_t>(by_kind ? value : value - 1), last);
        groups.add(by_kind ? at : group_of[at], spans.start_ns[i], spans.dur_ns[i]);
      }
      return !cancel.load();
    });
    if (!status.has_value()) {
      answer.error = status.error().message;
      return answer;
    }
    if (cancel.load()) return answer;
  }
  groups.finish(answer);
  return answer;
}

}  // namespace pitwall::gui
