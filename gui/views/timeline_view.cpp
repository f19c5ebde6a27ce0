#include "gui/views/timeline_view.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "analyzer/units_text.h"
#include "gui/timeline/time_axis.h"

namespace pitwall::gui {
namespace {

constexpr int kLeastLane = 6, kMostLane = 40;
constexpr double kDragPx = 4;  // a press that moves less is a click

}  // namespace

TimelineView::TimelineView(QWidget* parent) : QAbstractScrollArea(parent), scene_(false) {
  setFocusPolicy(Qt::StrongFocus);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
  viewport()->setMouseTracking(true);
  setAccessibleName(tr("Timeline"));
  state_.rows = &rows_;
  setLaneHeight(fontMetrics().height() + 2);
  scene_.setDark(isDark());
}

bool TimelineView::isDark() const {
  return palette().color(QPalette::Base).lightness() < palette().color(QPalette::Text).lightness();
}

void TimelineView::setTimeline(std::shared_ptr<const Timeline> timeline) {
  state_.timeline = std::move(timeline);
  state_.selected.reset();
  state_.range.reset();
  state_.highlighted.clear();
  state_.arrows.clear();
  state_.focused_row = 0;
  rows_.setTimeline(state_.timeline);
  if (state_.timeline) {
    state_.message.clear();
    viewport_.setWidth(geometryNow().laneWidth());
    viewport_.setBounds(state_.timeline->begin_ns, state_.timeline->end_ns);
  }
  verticalScrollBar()->setValue(0);
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
  g.titles = std::clamp(g.width / 4, 80, fontMetrics().averageCharWidth() * 34);
  g.ruler = fontMetrics().height() + 10;
  g.minimap = fontMetrics().height() + 14;
  g.scroll_y = verticalScrollBar()->value();
  g.pixel_ratio = viewport()->devicePixelRatioF();
  return g;
}

void TimelineView::changed() {
  state_.view = viewport_.view();
  viewport()->update();
  emit viewChanged();
}

void TimelineView::rowsChanged() {
  const SceneGeometry g = geometryNow();
  verticalScrollBar()->setRange(0, std::max(0, rows_.height() - (g.height - g.top())));
  verticalScrollBar()->setPageStep(std::max(1, g.height - g.top()));
  verticalScrollBar()->setSingleStep(rows_.metrics().lane * 3);
  if (state_.focused_row >= rows_.rows().size()) state_.focused_row = 0;
  viewport()->update();
}

void TimelineView::scrollContentsBy(int, int) { viewport()->update(); }

void TimelineView::resizeEvent(QResizeEvent*) {
  viewport_.setWidth(geometryNow().laneWidth());
  rowsChanged();
  changed();
}

void TimelineView::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  painter.setFont(font());
  state_.has_focus = hasFocus();
  scene_.paint(painter, geometryNow(), state_, palette());
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
  if (event->type() == QEvent::PaletteChange) scene_.setDark(isDark());
  if (event->type() == QEvent::FontChange) setLaneHeight(fontMetrics().height() + 2);
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

void TimelineView::wheelEvent(QWheelEvent* event) {
  if (!state_.timeline) return;
  const QPoint turned = event->angleDelta();
  const bool zoom = event->modifiers().testFlag(Qt::ControlModifier);
  const bool sideways =
      event->modifiers().testFlag(Qt::ShiftModifier) || std::abs(turned.x()) > std::abs(turned.y());
  if (zoom) {
    viewport_.remember();
    viewport_.zoomAt(laneX(event->position()), std::pow(1.2, -turned.y() / 120.0));
    changed();
  } else if (sideways) {
    viewport_.panBy(-(turned.x() != 0 ? turned.x() : turned.y()) / 120.0 * geometryNow().laneWidth() / 12);
    changed();
  } else {
    QAbstractScrollArea::wheelEvent(event);
  }
  event->accept();
}

// --- mouse ----------------------------------------------------------------------------------------------

std::optional<Hit> TimelineView::hitAt(const QPointF& at, EventRef& event) const {
  const SceneGeometry g = geometryNow();
  if (!state_.timeline || at.x() < g.titles || at.y() < g.top()) return std::nullopt;
  const int y = static_cast<int>(at.y()) - g.top() + g.scroll_y;
  const int i = rows_.rowAt(y);
  if (i < 0) return std::nullopt;
  const Row& row = rows_.rows()[static_cast<std::size_t>(i)];
  const int lane = (y - row.y) / rows_.metrics().lane;
  if (row.is_process || lane >= row.lanes) return std::nullopt;
  const TimelineTrack& track = state_.timeline->tracks[row.index];
  if (static_cast<std::size_t>(lane) >= track.lanes.size()) return std::nullopt;
  event.track = row.index;
  event.lane = static_cast<std::size_t>(lane);
  const auto hit = hitTest(track.lanes[event.lane], state_.view, at.x() - g.titles);
  if (hit) event.index = hit->index;
  return hit;
}

void TimelineView::mousePressEvent(QMouseEvent* event) {
  if (!state_.timeline) return;
  const SceneGeometry g = geometryNow();
  pressed_ = last_ = event->position();
  const bool left = event->button() == Qt::LeftButton;
  if (left && pressed_.y() < g.minimap && pressed_.x() >= g.titles) {
    viewport_.remember();
    drag_ = Drag::minimap;
    minimapTo(pressed_.x() - g.titles);
  } else if (event->button() == Qt::MiddleButton || (left && space_)) {
    viewport_.remember();
    drag_ = Drag::pan;
  } else if (left && pressed_.x() < g.titles) {
    pressOnRows(event);
  } else if (left) {
    drag_ = event->modifiers().testFlag(Qt::AltModifier) ? Drag::zoom : Drag::range;
    range_anchor_ = static_cast<TimeNs>(state_.view.timeAt(laneX(pressed_)));
    if (event->modifiers().testFlag(Qt::ShiftModifier) && state_.range) {
      const TimeNs middle = state_.range->from + (state_.range->to - state_.range->from) / 2;
      const TimeNs time = range_anchor_;
      range_anchor_ = time < middle ? state_.range->to : state_.range->from;
      selectRange(TimeRange{std::min(range_anchor_, time), std::max(range_anchor_, time)});
    }
  }
}

void TimelineView::pressOnRows(QMouseEvent* event) {
  const SceneGeometry g = geometryNow();
  const int i = rows_.rowAt(static_cast<int>(event->position().y()) - g.top() + g.scroll_y);
  if (i < 0 || event->position().y() < g.top()) return;
  state_.focused_row = static_cast<std::size_t>(i);
  rows_.toggleOpen(Row(rows_.rows()[state_.focused_row]));
  rowsChanged();
}

void TimelineView::minimapTo(double x) {
  const double span = static_cast<double>(viewport_.endNs() - viewport_.beginNs());
  const double time =
      static_cast<double>(viewport_.beginNs()) + x / std::max(1, geometryNow().laneWidth()) * span;
  viewport_.show(time, time);
  changed();
}

void TimelineView::mouseMoveEvent(QMouseEvent* event) {
  const QPointF at = event->position();
  if (drag_ == Drag::pan) {
    viewport_.panBy(last_.x() - at.x());
    verticalScrollBar()->setValue(verticalScrollBar()->value() + static_cast<int>(last_.y() - at.y()));
    changed();
  } else if (drag_ == Drag::minimap) {
    minimapTo(laneX(at));
  } else if ((drag_ == Drag::range || drag_ == Drag::zoom) && std::abs(at.x() - pressed_.x()) >= kDragPx) {
    const auto time = static_cast<TimeNs>(state_.view.timeAt(laneX(at)));
    state_.range = TimeRange{std::min(range_anchor_, time), std::max(range_anchor_, time)};
    viewport()->update();
  }
  last_ = at;
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event) {
  const Drag drag = drag_;
  drag_ = Drag::none;
  const bool moved = std::abs(event->position().x() - pressed_.x()) >= kDragPx;
  if (drag == Drag::zoom && moved && state_.range) {
    const TimeRange range = *state_.range;
    state_.range.reset();
    showTimes(range.from, range.to);
  } else if (drag == Drag::range && moved) {
    emit rangeSelected();
  } else if (drag == Drag::range && !event->modifiers().testFlag(Qt::ShiftModifier)) {
    EventRef hit;
    select(hitAt(event->position(), hit) ? std::optional(hit) : std::nullopt, false);
  }
}

void TimelineView::mouseDoubleClickEvent(QMouseEvent* event) {
  const SceneGeometry g = geometryNow();
  if (!state_.timeline || event->position().x() < g.titles) return;
  if (event->position().y() < g.top()) return showAll();
  EventRef hit;
  if (!hitAt(event->position(), hit)) return;
  select(hit, false);
  focused_ = hit;  // a double click fits at once
  focusSelection();
  emit activated();
}

QString TimelineView::tipAt(const QPointF& at) const {
  EventRef event;
  const auto hit = hitAt(at, event);
  if (!hit) return {};
  const Lane& lane = state_.timeline->tracks[event.track].lanes[event.lane];
  const QString name = QString::fromStdString(state_.timeline->name(lane.name(hit->index)));
  const QString dur = QString::fromStdString(showDuration(static_cast<double>(lane.durNs(hit->index))));
  if (hit->count > 1) return tr("%1 events, longest: %2, %3").arg(hit->count).arg(name, dur);
  return tr("%1, %2, starts at %3")
      .arg(name, dur, QString::fromStdString(showMoment(static_cast<double>(lane.startNs(hit->index)), 1)));
}

bool TimelineView::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const QString tip = tipAt(help->pos());
    tip.isEmpty() ? QToolTip::hideText() : QToolTip::showText(help->globalPos(), tip, viewport());
    return true;
  }
  return QAbstractScrollArea::viewportEvent(event);
}

void TimelineView::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Space && !event->isAutoRepeat()) space_ = true;
  if (event->key() == Qt::Key_Return && state_.selected) {
    focused_ = state_.selected;
    focusSelection();
    emit activated();
    return;
  }
  QAbstractScrollArea::keyPressEvent(event);
}

void TimelineView::keyReleaseEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Space && !event->isAutoRepeat()) space_ = false;
  QAbstractScrollArea::keyReleaseEvent(event);
}

// --- selection ------------------------------------------------------------------------------------------

void TimelineView::select(std::optional<EventRef> event, bool reveal) {
  if (event == state_.selected && !reveal) return;
  state_.selected = event;
  state_.arrows.clear();
  focused_.reset();
  if (event && state_.timeline) {
    const TimelineTrack& track = state_.timeline->tracks[event->track];
    const Lane& lane = track.lanes[event->lane];
    const int row = rows_.rowOfTrack(event->track);
    if (row >= 0) state_.focused_row = static_cast<std::size_t>(row);
    setAccessibleDescription(
        tr("%1, %2, %3")
            .arg(QString::fromStdString(state_.timeline->name(lane.name(event->index))),
                 QString::fromStdString(showDuration(static_cast<double>(lane.durNs(event->index)))),
                 QString::fromStdString(track.title)));
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
  emit eventSelected();
}

void TimelineView::revealRow(std::size_t row) {
  const Row& shown = rows_.rows()[row];
  const SceneGeometry g = geometryNow();
  const int room = g.height - g.top();
  if (shown.y < g.scroll_y) verticalScrollBar()->setValue(shown.y);
  if (shown.y + shown.height > g.scroll_y + room)
    verticalScrollBar()->setValue(std::min(shown.y, shown.y + shown.height - room));
}

void TimelineView::selectRange(std::optional<TimeRange> range) {
  state_.range = range;
  viewport()->update();
  emit rangeSelected();
}

void TimelineView::setHighlighted(std::vector<EventRef> events) {
  state_.highlighted = std::move(events);
  viewport()->update();
}

void TimelineView::setArrows(std::vector<std::pair<EventRef, EventRef>> arrows) {
  state_.arrows = std::move(arrows);
  viewport()->update();
}

void TimelineView::clearSelection() {
  if (state_.range) return selectRange(std::nullopt);
  setHighlighted({});
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

// --- rows -----------------------------------------------------------------------------------------------

void TimelineView::moveRow(int by) {
  const auto count = static_cast<int>(rows_.rows().size());
  if (count == 0) return;
  state_.focused_row =
      static_cast<std::size_t>(std::clamp(static_cast<int>(state_.focused_row) + by, 0, count - 1));
  revealRow(state_.focused_row);
  viewport()->update();
}

void TimelineView::togglePinned() {
  if (state_.focused_row >= rows_.rows().size() || rows_.rows()[state_.focused_row].is_process) return;
  const std::size_t track = rows_.rows()[state_.focused_row].index;
  rows_.togglePinned(track);
  state_.focused_row = static_cast<std::size_t>(std::max(0, rows_.rowOfTrack(track)));
  rowsChanged();
}

void TimelineView::toggleOpen() {
  if (state_.focused_row >= rows_.rows().size()) return;
  rows_.toggleOpen(Row(rows_.rows()[state_.focused_row]));
  rowsChanged();
}

void TimelineView::hideRow() {
  if (state_.focused_row >= rows_.rows().size() || rows_.rows()[state_.focused_row].is_process) return;
  rows_.setHidden(rows_.rows()[state_.focused_row].index, true);
  rowsChanged();
}

void TimelineView::showHiddenRows() {
  rows_.showHidden();
  rowsChanged();
}

void TimelineView::reorder(int by) {
  if (state_.focused_row >= rows_.rows().size() || rows_.rows()[state_.focused_row].is_process) return;
  const std::size_t track = rows_.rows()[state_.focused_row].index;
  if (!rows_.move(track, by)) return;
  state_.focused_row = static_cast<std::size_t>(std::max(0, rows_.rowOfTrack(track)));
  rowsChanged();
}

void TimelineView::setAllOpen(bool open) {
  rows_.setAllOpen(open);
  rowsChanged();
}

void TimelineView::setLaneHeight(int height) {
  RowMetrics metrics = rows_.metrics();
  metrics.lane = std::clamp(height, kLeastLane, kMostLane);
  metrics.process = fontMetrics().height() + 6;
  metrics.counter = std::max(metrics.lane * 2, fontMetrics().height() * 2 + 8);
  rows_.setMetrics(metrics);
  rowsChanged();
}

void TimelineView::setRowFilter(const QString& words) {
  rows_.setFilter(words.toStdString());
  rowsChanged();
}

}  // namespace pitwall::gui
