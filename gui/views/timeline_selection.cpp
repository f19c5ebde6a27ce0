// What of the timeline is selected or in view, for other uses; and the greatest value of a counter.
#include <QScrollBar>
#include <algorithm>

#include "analyzer/units_text.h"
#include "gui/timeline/across_processes.h"
#include "gui/timeline/counter_text.h"
#include "gui/timeline/time_axis.h"
#include "gui/views/memory_tags.h"
#include "gui/views/timeline_view.h"

namespace pitwall::gui {
namespace {

// The event that runs at that time and began last, of this thread or, without one, of this process; nullopt: none does.
std::optional<EventRef> runningAt(const Timeline& timeline, const TimelineTrack& counter, TimeNs time) {
  std::optional<EventRef> found;
  TimeNs began = 0;
  for (std::size_t t = 0; t < timeline.tracks.size(); ++t) {
    const TimelineTrack& track = timeline.tracks[t];
    if (track.kind != TrackKind::thread || track.process != counter.process) continue;
    if (counter.thread != 0 && track.thread != counter.thread) continue;
    for (std::size_t l = 0; l < track.lanes.size(); ++l) {
      const Lane& lane = track.lanes[l];
      const std::size_t i = lane.firstReaching(time);
      if (i >= lane.size() || lane.startNs(i) > time) continue;
      if (found && lane.startNs(i) < began) continue;
      found = EventRef{t, l, i};
      began = lane.startNs(i);
    }
  }
  return found;
}

// "rank 2" of "rank 2: train (4711)".
QString shortTitle(const TimelineProcess& process) {
  return QString::fromStdString(process.title.substr(0, process.title.find(':')));
}

}  // namespace

ViewToDescribe TimelineView::viewToDescribe() const {
  ViewToDescribe what;
  what.timeline = state_.timeline;
  what.from_ns = std::max(static_cast<TimeNs>(state_.view.start_ns), state_.timeline->begin_ns);
  what.to_ns = std::min(static_cast<TimeNs>(state_.view.endNs()), state_.timeline->end_ns);
  const auto [from, to] = rowsInSight(geometryNow(), state_);
  for (std::size_t i = from; i < to; ++i) {
    if (!rows_.rows()[i].is_process) what.tracks.push_back(rows_.rows()[i].index);
  }
  what.selected = state_.selected;
  if (state_.range) what.range = {state_.range->from, state_.range->to};
  return what;
}

// With the titles of the rows, and of a selected range only its stretch of time.
QImage TimelineView::selectedPicture() {
  const QImage all = picture();
  if (!state_.range) return all;
  const SceneGeometry g = geometryNow();
  const double width = g.laneWidth();
  const double x0 = std::clamp(state_.view.xOf(static_cast<double>(state_.range->from)) - 8, 0.0, width);
  const double x1 = std::clamp(state_.view.xOf(static_cast<double>(state_.range->to)) + 8, 0.0, width);
  if (x1 - x0 < 1) return all;  // out of sight
  const auto px = [&](double x) { return static_cast<int>(x * g.pixel_ratio); };
  const QImage titles = all.copy(0, 0, px(g.titles), all.height());
  const QImage part = all.copy(px(g.titles + x0), 0, px(x1 - x0), all.height());
  QImage made(px(g.titles) + part.width(), all.height(), all.format());
  made.setDevicePixelRatio(g.pixel_ratio);
  QPainter painter(&made);
  painter.drawImage(QPointF(0, 0), titles);
  painter.drawImage(QPointF(g.titles, 0), part);
  return made;
}

// Of a row with events, as a range over all rows: the table then says what the others did meanwhile.
void TimelineView::selectLongestGap(const TimelineTrack& track) {
  const auto [from, to] =
      longestGap(track, static_cast<TimeNs>(state_.view.start_ns), static_cast<TimeNs>(state_.view.endNs()));
  if (to <= from) return emit remarked(tr("%1 has no gap in view.").arg(QString::fromStdString(track.title)));
  selectRange(TimeRange{from, to});
  emit remarked(tr("The longest gap of %1 in view: %2 at %3. The range's table has what happened meanwhile.")
                    .arg(QString::fromStdString(track.title),
                         QString::fromStdString(showDuration(static_cast<double>(to - from))),
                         QString::fromStdString(showMoment(static_cast<double>(from), 1))));
}

void TimelineView::goToPeak() {
  if (!state_.timeline || state_.focused_row >= rows_.rows().size()) return;
  const Row& focused = rows_.rows()[state_.focused_row];
  const TimelineTrack* chart = chartOf(*state_.timeline, focused);
  if (chart == nullptr && !focused.is_process)
    return selectLongestGap(state_.timeline->tracks[focused.index]);
  if (chart == nullptr)
    return emit remarked(tr("Go to the row of a counter or of events first: Down, or a click."));
  std::size_t greatest = 0;
  for (std::size_t i = 1; i < chart->counter.size(); ++i) {
    if (chart->counter.value(i) > chart->counter.value(greatest)) greatest = i;
  }
  const TimeNs time = chart->counter.timeNs(greatest);
  const std::size_t row = state_.focused_row;
  const auto event = runningAt(*state_.timeline, *chart, time);
  select(event, false);
  state_.focused_row = row;
  state_.fixed_cursor = time;
  viewport_.remember();
  viewport_.show(static_cast<double>(time), static_cast<double>(time));
  changed();
  QString value = QString::fromStdString(showCounter(chart->counter.value(greatest), chart->unit));
  if (chart->memory) value += " (" + memoryText(*chart->memory, time) + ")";
  const QString at = QString::fromStdString(showMoment(static_cast<double>(time), 1));
  if (!event) return emit remarked(tr("Greatest: %1 at %2. No recorded event runs then.").arg(value, at));
  const Lane& lane = state_.timeline->tracks[event->track].lanes[event->lane];
  emit remarked(tr("Greatest: %1 at %2. Then runs %3, on %4.")
                    .arg(value, at, QString::fromStdString(state_.timeline->name(lane.name(event->index))),
                         QString::fromStdString(state_.timeline->tracks[event->track].title)));
}

void TimelineView::showInAllProcesses() {
  if (!state_.selected) return emit remarked(tr("Select an event first, such as a collective of one rank."));
  const Timeline& timeline = *state_.timeline;
  const EventRef selected = *state_.selected;
  const auto events = sameInAllProcesses(timeline, selected);
  const auto laneOf = [&](const EventRef& e) -> const Lane& {
    return timeline.tracks[e.track].lanes[e.lane];
  };
  const QString name = QString::fromStdString(timeline.label(laneOf(selected).name(selected.index)));
  if (events.size() < 2)
    return emit remarked(tr("No other process has an event with the name %1.").arg(name));
  const auto start = [&](const EventRef& e) { return laneOf(e).startNs(e.index); };
  const auto end = [&](const EventRef& e) { return laneOf(e).endNs(e.index); };
  const auto [first, last] = std::ranges::minmax(events, {}, start);
  const auto [ends_first, ends_last] = std::ranges::minmax(events, {}, end);
  for (const EventRef& event : events) {
    if (!rows_.isPinned(event.track)) rows_.togglePinned(event.track);
  }
  rowsChanged();
  verticalScrollBar()->setValue(0);
  setHighlighted(events);
  const auto margin = static_cast<double>(end(ends_last) - start(first)) / 4;
  viewport_.remember();
  viewport_.show(static_cast<double>(start(first)) - margin, static_cast<double>(end(ends_last)) + margin);
  changed();
  const auto time = [](TimeNs ns) { return QString::fromStdString(showDuration(static_cast<double>(ns))); };
  const auto process = [&](const EventRef& e) {
    return shortTitle(timeline.processes[timeline.tracks[e.track].process]);
  };
  const TimeNs apart = end(ends_last) - end(ends_first);
  emit remarked(
      tr("%1 on %2 processes: %3 begins last, %4 after %5; %6. Their rows are pinned.")
          .arg(name)
          .arg(events.size())
          .arg(process(last), time(start(last) - start(first)), process(first),
               apart == 0 ? tr("they end together") : tr("the ends are %1 apart").arg(time(apart))));
}

}  // namespace pitwall::gui
