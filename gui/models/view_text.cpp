#include "gui/models/view_text.h"

#include <QObject>
#include <QStringList>
#include <algorithm>

#include "analyzer/units_text.h"
#include "gui/timeline/aggregate_groups.h"
#include "gui/timeline/counter_text.h"
#include "gui/timeline/thread_states.h"
#include "gui/timeline/time_axis.h"

namespace pitwall::gui {
namespace {

constexpr std::size_t kMostNames = 3;

QString durationText(TimeNs ns) { return QString::fromStdString(showDuration(static_cast<double>(ns))); }
QString momentText(TimeNs ns) { return QString::fromStdString(showMoment(static_cast<double>(ns), 1)); }

// Lane 0 has the outermost events: what it covers is when anything runs.
TimeNs coveredNs(const Lane& lane, TimeNs from, TimeNs to) {
  TimeNs covered = 0;
  for (std::size_t i = lane.firstReaching(from); i < lane.size() && lane.startNs(i) < to; ++i)
    covered += std::max<TimeNs>(0, std::min(lane.endNs(i), to) - std::max(lane.startNs(i), from));
  return covered;
}

QString counterText(const TimelineTrack& track, TimeNs from, TimeNs to) {
  const CounterRange range = track.counter.range(from, to);
  if (range.empty) return QObject::tr("no value");
  const auto show = [&](double value) { return QString::fromStdString(showCounter(value, track.unit)); };
  return range.least == range.greatest ? show(range.least)
                                       : QObject::tr("%1 to %2").arg(show(range.least), show(range.greatest));
}

QString statesText(const Lane& states, TimeNs from, TimeNs to) {
  TimeNs time[kThreadActivities] = {}, all = 0;
  for (std::size_t i = states.firstReaching(from); i < states.size() && states.startNs(i) < to; ++i) {
    const TimeNs part = std::min(states.endNs(i), to) - std::max(states.startNs(i), from);
    time[static_cast<int>(activityAt(states, i))] += part;
    all += part;
  }
  QStringList parts;
  for (int a = 0; a < kThreadActivities && all > 0; ++a) {
    if (time[a] > 0)
      parts += QString("%1 %2").arg(
          describe(static_cast<ThreadActivity>(a)),
          QString::fromStdString(showShare(static_cast<double>(time[a]) / static_cast<double>(all))));
  }
  return parts.join(", ");
}

QString rowText(const Timeline& timeline, std::size_t t, TimeNs from, TimeNs to,
                const std::atomic<bool>& cancel) {
  const TimelineTrack& track = timeline.tracks[t];
  if (track.kind == TrackKind::counter) return counterText(track, from, to);
  QStringList parts;
  const auto rows = aggregateGroups(timeline, {t}, from, to, &cancel);
  std::int64_t count = 0;
  for (const AggregateRow& row : rows) count += row.count;
  if (count > 0) {
    const double share = static_cast<double>(coveredNs(track.lanes[0], from, to)) /
                         static_cast<double>(std::max<TimeNs>(1, to - from));
    parts += QObject::tr("%1 events, busy %2").arg(count).arg(QString::fromStdString(showShare(share)));
    if (const auto gap = longestGap(track, from, to); gap.second > gap.first)
      parts += QObject::tr("longest gap %1 at %2")
                   .arg(durationText(gap.second - gap.first), momentText(gap.first));
    QStringList names;
    for (std::size_t i = 0; i < std::min(rows.size(), kMostNames); ++i) {
      const std::string& name =
          timeline.groups.titles.empty() ? timeline.name(rows[i].name) : timeline.groups.titles[rows[i].name];
      names += QString("%1 %2").arg(QString::fromStdString(name), durationText(rows[i].total_ns));
    }
    parts += QObject::tr("most time: %1").arg(names.join("; "));
  } else if (!track.lanes.empty()) {
    parts += QObject::tr("no events");
  }
  const QString states = track.states == nullptr ? QString() : statesText(track.states->lane, from, to);
  if (!states.isEmpty()) parts += QObject::tr("the thread %1").arg(states);
  return parts.join(". ");
}

QString eventText(const Timeline& timeline, const EventRef& event) {
  const TimelineTrack& track = timeline.tracks[event.track];
  const Lane& lane = track.lanes[event.lane];
  return QObject::tr("Selected: %1, %2, on %3, starts at %4.")
      .arg(QString::fromStdString(timeline.name(lane.name(event.index))),
           durationText(lane.durNs(event.index)), QString::fromStdString(track.title),
           momentText(lane.startNs(event.index)));
}

}  // namespace

std::pair<TimeNs, TimeNs> longestGap(const TimelineTrack& track, TimeNs from, TimeNs to) {
  std::pair<TimeNs, TimeNs> longest{0, 0};
  if (track.lanes.empty()) return longest;
  const Lane& lane = track.lanes[0];
  std::optional<TimeNs> free;
  for (std::size_t i = lane.firstReaching(from); i < lane.size() && lane.startNs(i) < to; ++i) {
    if (free && lane.startNs(i) - *free > longest.second - longest.first) longest = {*free, lane.startNs(i)};
    free = std::max(free.value_or(lane.endNs(i)), lane.endNs(i));
  }
  return longest;
}

QString describeView(const ViewToDescribe& view, const std::atomic<bool>& cancel) {
  const Timeline& timeline = *view.timeline;
  QString text = QObject::tr("In view: %1, from %2 to %3, of %4.\n")
                     .arg(durationText(view.to_ns - view.from_ns), momentText(view.from_ns),
                          momentText(view.to_ns), QString::fromStdString(timeline.path));
  if (view.selected) text += eventText(timeline, *view.selected) + "\n";
  if (view.range)
    text += QObject::tr("Selected range: %1, from %2 to %3.\n")
                .arg(durationText(view.range->second - view.range->first), momentText(view.range->first),
                     momentText(view.range->second));
  std::optional<std::size_t> process;
  for (const std::size_t t : view.tracks) {
    if (cancel.load()) return text;
    const TimelineTrack& track = timeline.tracks[t];
    if (process != track.process)
      text += "\n" + QString::fromStdString(timeline.processes[track.process].title) + "\n";
    process = track.process;
    text +=
        QString("%1: %2.\n")
            .arg(QString::fromStdString(track.title), rowText(timeline, t, view.from_ns, view.to_ns, cancel));
  }
  return text;
}

}  // namespace pitwall::gui
