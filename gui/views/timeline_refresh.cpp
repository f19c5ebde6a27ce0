// The timeline while its recording goes on.
#include <QScrollBar>
#include <algorithm>
#include <set>

#include "gui/views/timeline_view.h"

namespace pitwall::gui {

std::optional<EventRef> TimelineView::sameEvent(const Timeline& other, const EventRef& event) const {
  const TimelineTrack& track = state_.timeline->tracks[event.track];
  const Lane& lane = track.lanes[event.lane];
  const auto there = trackWithId(other, track.id.value);
  return there ? eventAt(other, *there, lane.startNs(event.index), lane.durNs(event.index)) : std::nullopt;
}

std::optional<TimeRange> TimelineView::sameRange(const Timeline& other) const {
  if (!state_.range) return std::nullopt;
  TimeRange range{state_.range->from, state_.range->to};
  for (const std::size_t track : state_.range->tracks) {
    if (const auto there = trackWithId(other, state_.timeline->tracks[track].id.value))
      range.tracks.push_back(*there);
  }
  std::ranges::sort(range.tracks);
  return range;
}

void TimelineView::replaceTimeline(std::shared_ptr<const Timeline> timeline) {
  if (!state_.timeline || !timeline) return setTimeline(std::move(timeline));
  const auto selected = state_.selected ? sameEvent(*timeline, *state_.selected) : std::nullopt;
  state_.range = sameRange(*timeline);
  std::vector<std::pair<EventRef, EventRef>> arrows;
  for (const auto& [from, to] : state_.arrows) {
    const auto a = sameEvent(*timeline, from), b = sameEvent(*timeline, to);
    if (a && b) arrows.emplace_back(*a, *b);
  }
  state_.arrows = std::move(arrows);
  const auto& shown = rows_.rows();
  const bool on_track = state_.focused_row < shown.size() && !shown[state_.focused_row].is_process;
  const auto focused =
      on_track ? trackWithId(*timeline, state_.timeline->tracks[shown[state_.focused_row].index].id.value)
               : std::nullopt;
  const auto old_begin = static_cast<double>(viewport_.beginNs()),
             old_end = static_cast<double>(viewport_.endNs());
  const bool at_end = state_.view.endNs() >= old_end - state_.view.ns_per_px;
  const bool whole = at_end && state_.view.start_ns <= old_begin + state_.view.ns_per_px;
  const RowsKept kept = rows_.kept();
  std::set<std::uint32_t> known;
  for (const TimelineTrack& track : state_.timeline->tracks) known.insert(track.id.value);
  const int scroll = verticalScrollBar()->value();
  state_.timeline = std::move(timeline);
  state_.highlighted.clear();
  state_.marked.reset();
  state_.hits.reset();
  state_.path.reset();
  state_.hovered_row = -1;
  followed_.clear();
  rows_.setTimeline(state_.timeline);
  // Rows that are new are as in a trace that is opened.
  RowsKept all = kept;
  for (const std::uint32_t id : rows_.kept().closed) {
    if (!known.contains(id)) all.closed.push_back(id);
  }
  rows_.restore(all);
  viewport_.widenBounds(state_.timeline->begin_ns, state_.timeline->end_ns);
  if (whole) {
    viewport_.showAll();
  } else if (at_end) {
    const double on = static_cast<double>(state_.timeline->end_ns) - old_end;
    viewport_.place(state_.view.start_ns + on, state_.view.ns_per_px);
  }
  state_.selected = selected;
  focused_.reset();
  if (focused) state_.focused_row = static_cast<std::size_t>(std::max(0, rows_.rowOfTrack(*focused)));
  rowsChanged();
  verticalScrollBar()->setValue(scroll);
  changed();
}

void TimelineView::showEnd() {
  if (!state_.timeline) return;
  viewport_.remember();
  const double span = state_.view.ns_per_px * state_.view.width_px;
  const double start = static_cast<double>(state_.timeline->end_ns) - span;
  viewport_.place(start + span * 0.02, state_.view.ns_per_px);
  changed();
}

}  // namespace pitwall::gui
