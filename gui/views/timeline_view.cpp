#include "gui/views/timeline_view.h"

#include <QEvent>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "analyzer/units_text.h"
#include "gui/timeline/time_axis.h"
#include "gui/views/event_colors.h"
#include "gui/views/note_marks.h"
#include "gui/views/timeline_accessible.h"

namespace pitwall::gui {

TimelineView::TimelineView(QWidget* parent) : QAbstractScrollArea(parent), scene_(false) {
  setFocusPolicy(Qt::StrongFocus);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
  viewport()->setMouseTracking(true);
  viewport()->grabGesture(Qt::PinchGesture);  // of touch screens; touch pads send native gestures
  installTimelineAccessibility();
  setAccessibleName(tr("Timeline"));
  makeLegend();
  state_.rows = &rows_;
  setLaneHeight(fontMetrics().height() + 2);
  scene_.setDark(isDark(palette()));
}

void TimelineView::setTimeline(std::shared_ptr<const Timeline> timeline) {
  state_.timeline = std::move(timeline);
  state_.selected.reset();
  state_.range.reset();
  state_.highlighted.clear();
  state_.marked.reset();
  state_.hits.reset();
  state_.cursor.reset();
  state_.fixed_cursor.reset();
  state_.arrows.clear();
  state_.path.reset();
  state_.focused_row = 0;
  state_.hovered_row = -1;
  rows_.setTimeline(state_.timeline);
  if (state_.timeline) {
    state_.message.clear();
    viewport_.setWidth(geometryNow().laneWidth());
    viewport_.setBounds(state_.timeline->begin_ns, state_.timeline->end_ns);
  }
  verticalScrollBar()->setValue(0);
  placeLegend();
  rowsChanged();
  changed();
}

void TimelineView::setMessage(const QString& message) {
  state_.message = message;
  setAccessibleDescription(message);
  viewport()->update();
}

SceneGeometry TimelineView::geometryNow() const {
  SceneGeometry g;
  g.width = viewport()->width();
  g.height = viewport()->height();
  const int default_width = std::clamp(g.width / 3, 80, fontMetrics().averageCharWidth() * 34);
  g.titles = titles_width_ > 0 ? std::clamp(titles_width_, 60, std::max(60, g.width - 120)) : default_width;
  g.ruler = fontMetrics().height() + 10;
  g.minimap = fontMetrics().height() + 14;
  if (state_.timeline && state_.timeline->iterations.size() > 1) g.iterations = fontMetrics().height() + 4;
  if (state_.path) g.path = fontMetrics().height() + 6;
  g.scroll_y = verticalScrollBar()->value();
  g.pixel_ratio = viewport()->devicePixelRatioF();
  return g;
}

void TimelineView::changed() {
  state_.view = viewport_.view();
  viewport()->update();
  if (legend_wanted_) legend_pause_.start();
  announceView(*this);
  emit viewChanged();
}

void TimelineView::scrollContentsBy(int, int) {
  viewport()->update();
  if (legend_wanted_) legend_pause_.start();
}

void TimelineView::resizeEvent(QResizeEvent*) {
  placeLegend();
  viewport_.setWidth(geometryNow().laneWidth());
  rowsChanged();
  changed();
}

void TimelineView::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  painter.setFont(font());
  state_.has_focus = hasFocus();
  scene_.paint(painter, geometryNow(), state_, palette());
  if (state_.timeline) paintNotes(painter, geometryNow(), state_.view, notes_, mark_);
  paintDraggedRange(painter);
}

QImage TimelineView::picture() {
  const SceneGeometry g = geometryNow();
  QImage image(QSize(g.width, g.height) * g.pixel_ratio, QImage::Format_RGB32);
  image.setDevicePixelRatio(g.pixel_ratio);
  QPainter painter(&image);
  paintPicture(painter);
  return image;
}

void TimelineView::paintPicture(QPainter& painter) {
  painter.setFont(font());
  scene_.paint(painter, geometryNow(), state_, palette());
  if (state_.timeline) paintNotes(painter, geometryNow(), state_.view, notes_, mark_);
}

void TimelineView::placeView(double start_ns, double ns_per_px) {
  viewport_.place(start_ns, ns_per_px);
  changed();
}

void TimelineView::widenBounds(TimeNs begin_ns, TimeNs end_ns) {
  viewport_.widenBounds(begin_ns, end_ns);
  changed();
}

void TimelineView::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) {
    scene_.setDark(isDark(palette()));
    updateLegend();
  }
  if (event->type() == QEvent::FontChange) {
    setLaneHeight(fontMetrics().height() + 2);
    placeLegend();
  }
  QAbstractScrollArea::changeEvent(event);
}

// --- zoom and pan ---------------------------------------------------------------------------------------

void TimelineView::zoomCentered(double factor) {
  const QPoint mouse = viewport()->mapFromGlobal(QCursor::pos());
  const SceneGeometry g = geometryNow();
  const bool inside = viewport()->rect().contains(mouse) && mouse.x() > g.titles;
  viewport_.remember();
  viewport_.zoomAt(inside ? mouse.x() - g.titles : g.laneWidth() / 2.0, factor);
  changed();
}

void TimelineView::pan(double share) {
  viewport_.remember();
  viewport_.panBy(share * geometryNow().laneWidth());
  changed();
}

void TimelineView::showAll() {
  viewport_.remember();
  viewport_.showAll();
  changed();
}

void TimelineView::showTimes(qint64 from_ns, qint64 to_ns) {
  viewport_.remember();
  viewport_.show(static_cast<double>(from_ns), static_cast<double>(to_ns));
  changed();
}

void TimelineView::focusSelection() {
  if (!state_.selected) {
    if (state_.range) zoomToRange();
    return;
  }
  const Lane& lane = state_.timeline->tracks[state_.selected->track].lanes[state_.selected->lane];
  const auto start = static_cast<double>(lane.startNs(state_.selected->index));
  const auto end = static_cast<double>(lane.endNs(state_.selected->index));
  viewport_.remember();
  const bool fit = focused_ == state_.selected;
  const double middle = (start + end) / 2;
  viewport_.show(fit ? start : middle, fit ? end : middle);
  focused_ = fit ? std::nullopt : state_.selected;
  changed();
}

void TimelineView::fitEvent() {
  if (!state_.selected) step(true, false);
  if (!state_.selected) return;
  focused_ = state_.selected;  // fits at once
  focusSelection();
  emit activated();
}

void TimelineView::zoomToRange() {
  if (state_.range) showTimes(state_.range->from, state_.range->to);
}

void TimelineView::selectEventAsRange() {
  if (!state_.selected) return;
  const Lane& lane = state_.timeline->tracks[state_.selected->track].lanes[state_.selected->lane];
  selectRange(TimeRange{lane.startNs(state_.selected->index), lane.endNs(state_.selected->index)});
}

void TimelineView::undoView() {
  if (viewport_.undo()) changed();
}

void TimelineView::redoView() {
  if (viewport_.redo()) changed();
}

// --- selection ------------------------------------------------------------------------------------------

void TimelineView::select(std::optional<EventRef> event, bool reveal) {
  if (event == state_.selected && !reveal) return;
  state_.selected = event;
  state_.arrows.clear();
  arrows_known_ = false;
  follow_asked_.reset();
  focused_.reset();
  if (event && state_.timeline) {
    const TimelineTrack& track = state_.timeline->tracks[event->track];
    const Lane& lane = track.lanes[event->lane];
    const int row = rows_.rowOfTrack(event->track);
    if (row >= 0) state_.focused_row = static_cast<std::size_t>(row);
    setAccessibleDescription(describeSelected(*this));
    if (reveal) {
      if (row >= 0) revealRow(static_cast<std::size_t>(row));
      const auto start = static_cast<double>(lane.startNs(event->index));
      const auto end = static_cast<double>(lane.endNs(event->index));
      if (start < state_.view.start_ns || end > state_.view.endNs()) {
        viewport_.remember();
        const double middle = (start + end) / 2;
        const bool fits = end - start < state_.view.ns_per_px * state_.view.width_px;
        viewport_.show(fits ? middle : start, fits ? middle : end);
        changed();
      }
    }
  }
  viewport()->update();
  announceSelection(*this);
  emit eventSelected();
}

void TimelineView::goTo(const EventRef& event) {
  select(event, true);
  focused_ = event;  // fits at once
  focusSelection();
}

void TimelineView::selectRange(std::optional<TimeRange> range) {
  state_.range = std::move(range);
  viewport()->update();
  emit rangeSelected();
}

void TimelineView::setHighlighted(std::vector<EventRef> events) {
  state_.highlighted = std::move(events);
  viewport()->update();
}

void TimelineView::setHits(std::shared_ptr<const SearchHits> hits) {
  state_.hits = std::move(hits);
  viewport()->update();
}

void TimelineView::setMarked(std::optional<TimeRange> range) {
  state_.marked = std::move(range);
  viewport()->update();
}

void TimelineView::hoverLanes(const QPointF& at) {
  const bool over = state_.timeline && at.x() >= geometryNow().titles;
  const auto cursor = over ? std::optional(static_cast<TimeNs>(state_.view.timeAt(laneX(at)))) : std::nullopt;
  if (cursor == state_.cursor) return;
  state_.cursor = cursor;
  viewport()->update();
}

void TimelineView::toggleCursor() {
  if (!state_.timeline) return;
  const auto middle = static_cast<TimeNs>(state_.view.timeAt(state_.view.width_px / 2.0));
  state_.fixed_cursor = state_.fixed_cursor ? std::nullopt : std::optional(state_.cursor.value_or(middle));
  viewport()->update();
}

void TimelineView::toggleGrid() {
  state_.grid = !state_.grid;
  viewport()->update();
}

void TimelineView::clearSelection() {
  if (state_.range) return selectRange(std::nullopt);
  setHighlighted({});
  setMarked(std::nullopt);
  setHits(nullptr);
  select(std::nullopt, false);
}

void TimelineView::step(bool forward, bool same_name) {
  if (!state_.timeline) return;
  if (state_.selected) {
    if (const auto next = neighbour(*state_.timeline, *state_.selected, forward, same_name))
      select(next, true);
    return;
  }
  // Nothing selected: the first event in sight of the focused row.
  if (state_.focused_row >= rows_.rows().size()) return;
  for (std::size_t i = state_.focused_row; i < rows_.rows().size(); ++i) {
    const Row& row = rows_.rows()[i];
    if (row.is_process || state_.timeline->tracks[row.index].lanes.empty()) continue;
    const Lane& lane = state_.timeline->tracks[row.index].lanes[0];
    const std::size_t first = lane.firstReaching(static_cast<TimeNs>(state_.view.start_ns));
    if (first < lane.size()) return select(EventRef{row.index, 0, first}, true);
  }
}

void TimelineView::selectParent() {
  if (!state_.selected) return;
  if (const auto parent = parentOf(*state_.timeline, *state_.selected)) select(parent, true);
}

void TimelineView::selectChild() {
  if (!state_.selected) return;
  if (const auto child = childOf(*state_.timeline, *state_.selected)) select(child, true);
}

// --- notes ----------------------------------------------------------------------------------------------

void TimelineView::setNotes(std::vector<Note> notes) {
  notes_ = std::move(notes);
  viewport()->update();
}

void TimelineView::setMark(std::optional<TimeRange> mark) {
  mark_ = mark;
  viewport()->update();
}

}  // namespace pitwall::gui
