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

namespace {

// Of each event its row of groupEvents(): by kind, or by what its operator is.
class EventGroups {
 public:
  EventGroups(const Trace& trace, RangeGrouping grouping) : by_kind_(grouping == RangeGrouping::category) {
    if (!by_kind_) group_of_ = operatorGroups(trace, grouping, labels_);
    for (int kind = 0; by_kind_ && kind <= static_cast<int>(EventKind::communication); ++kind)
      labels_.emplace_back(toString(static_cast<EventKind>(kind)));
  }
  EventFields field() const { return by_kind_ ? kKind : kOperator; }
  std::size_t of(const EventSpans& spans, std::size_t i) const {
    if (by_kind_) return std::min(static_cast<std::size_t>(spans.kind[i]), labels_.size() - 1);
    // Operators count from 1; 0 is none.
    return group_of_[std::min(static_cast<std::size_t>(spans.op[i] - 1), group_of_.size() - 1)];
  }
  const std::vector<std::string>& labels() const { return labels_; }

 private:
  bool by_kind_;
  std::vector<std::size_t> group_of_;
  std::vector<std::string> labels_;
};

// Calls take(spans, i) for the events of these tracks; false: cancelled, or answer.error says why.
template <class Take>
bool visitEvents(Trace& trace, const Timeline& timeline, const std::vector<std::size_t>& tracks,
                 const EventSelection& of, const std::atomic<bool>& cancel, GroupedRows& answer, Take take) {
  for (const std::size_t track : tracks) {
    if (timeline.tracks[track].lanes.empty()) continue;
    EventSelection selection = of;
    selection.track = timeline.tracks[track].id;
    const Status status = trace.eventColumns(selection, [&](const EventSpans& spans) {
      for (std::size_t i = 0; i < spans.size; ++i) take(spans, i);
      return !cancel.load();
    });
    if (!status.has_value()) answer.error = status.error().message;
    if (!status.has_value() || cancel.load()) return false;
  }
  return true;
}

}  // namespace

GroupedRows groupEvents(Trace& trace, const Timeline& timeline, const std::vector<std::size_t>& tracks,
                        RangeGrouping grouping, TimeNs from, TimeNs to, const std::atomic<bool>& cancel) {
  GroupedRows answer;
  Groups groups(from, to);
  const EventGroups of(trace, grouping);
  answer.labels = of.labels();
  const EventSelection selection{
      .track = {}, .from_ns = from, .to_ns = to, .fields = kStart | kDur | of.field()};
  if (visitEvents(trace, timeline, tracks, selection, cancel, answer,
                  [&](const EventSpans& spans, std::size_t i) {
                    groups.add(of.of(spans, i), spans.start_ns[i], spans.dur_ns[i]);
                  }))
    groups.finish(answer);
  return answer;
}

GroupedRows namesWithin(Trace& trace, const Timeline& timeline, const std::vector<std::size_t>& tracks,
                        RangeGrouping grouping, const std::string& label, TimeNs from, TimeNs to,
                        const std::atomic<bool>& cancel) {
  GroupedRows answer;
  Groups groups(from, to);
  const EventGroups of(trace, grouping);
  const auto at = std::ranges::find(of.labels(), label);
  if (at == of.labels().end()) return answer;
  const auto wanted = static_cast<std::size_t>(at - of.labels().begin());
  std::map<std::string, std::size_t> known;
  const EventSelection selection{
      .track = {}, .from_ns = from, .to_ns = to, .fields = kStart | kDur | kName | of.field()};
  const auto take = [&](const EventSpans& spans, std::size_t i) {
    if (of.of(spans, i) != wanted) return;
    const std::string& name = timeline.groupName(static_cast<std::uint32_t>(spans.name[i]));
    const auto [group, is_new] = known.try_emplace(name, answer.labels.size());
    if (is_new) answer.labels.push_back(name);
    groups.add(group->second, spans.start_ns[i], spans.dur_ns[i]);
  };
  if (visitEvents(trace, timeline, tracks, selection, cancel, answer, take)) groups.finish(answer);
  return answer;
}

}  // namespace pitwall::gui
