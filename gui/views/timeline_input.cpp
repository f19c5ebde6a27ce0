// The timeline's mouse and touch pad, and the few keys that are not actions.
#include <QContextMenuEvent>
#include <QGestureEvent>
#include <QHelpEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QNativeGestureEvent>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "analyzer/units_text.h"
#include "gui/timeline/store_keys.h"
#include "gui/timeline/time_axis.h"
#include "gui/views/critical_lane.h"
#include "gui/views/timeline_view.h"

namespace pitwall::gui {
namespace {

constexpr double kDragPx = 4;    // a press that moves less is a click
constexpr double kHandlePx = 4;  // distance at which an edge of the range can be dragged
constexpr double kSnapPx = 15;   // distance at which the edge of a range snaps to that of an event

}  // namespace

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

const Lane* TimelineView::laneAt(const QPointF& at, EventRef& event) const {
  const SceneGeometry g = geometryNow();
  if (!state_.timeline || at.x() < g.titles || at.y() < g.top()) return nullptr;
  const int y = static_cast<int>(at.y()) - g.top() + g.scroll_y;
  const int i = rows_.rowAt(y);
  if (i < 0) return nullptr;
  const Row& row = rows_.rows()[static_cast<std::size_t>(i)];
  const int lane = (y - row.y) / rows_.metrics().lane;
  if (row.is_process || lane >= row.lanes) return nullptr;
  const TimelineTrack& track = state_.timeline->tracks[row.index];
  if (static_cast<std::size_t>(lane) >= track.lanes.size()) return nullptr;
  event.track = row.index;
  event.lane = static_cast<std::size_t>(lane);
  return &track.lanes[event.lane];
}

std::optional<Hit> TimelineView::hitAt(const QPointF& at, EventRef& event) const {
  const Lane* lane = laneAt(at, event);
  if (lane == nullptr) return std::nullopt;
  const auto hit = hitTest(*lane, state_.view, laneX(at));
  if (hit) event.index = hit->index;
  return hit;
}

TimeNs TimelineView::timeNear(const QPointF& at, Qt::KeyboardModifiers modifiers) const {
  const auto time = static_cast<TimeNs>(state_.view.timeAt(laneX(at)));
  EventRef there;
  const Lane* lane = laneAt(at, there);
  if (lane == nullptr || modifiers.testFlag(Qt::ControlModifier)) return time;
  TimeNs nearest = time;
  double least = kSnapPx * state_.view.ns_per_px;
  const auto consider = [&](TimeNs edge) {
    const double distance = std::abs(static_cast<double>(edge) - static_cast<double>(time));
    if (distance > least) return;
    least = distance;
    nearest = edge;
  };
  // The event there or after it, and its neighbours.
  const std::size_t i = lane->firstReaching(time);
  for (std::size_t e = i > 0 ? i - 1 : 0; e < std::min(lane->size(), i + 2); ++e) {
    consider(lane->startNs(e));
    consider(lane->endNs(e));
  }
  return nearest;
}

void TimelineView::mousePressEvent(QMouseEvent* event) {
  if (!state_.timeline) return;
  const SceneGeometry g = geometryNow();
  pressed_ = last_ = event->position();
  const bool left = event->button() == Qt::LeftButton;
  if (left && pressed_.y() < g.minimap && pressed_.x() >= g.titles) {
    pressOnMinimap(pressed_.x() - g.titles);
  } else if (left && onTitlesEdge(pressed_)) {
    drag_ = Drag::titles;
  } else if (event->button() == Qt::MiddleButton || (left && space_)) {
    viewport_.remember();
    drag_ = Drag::pan;
  } else if (left && pressed_.x() < g.titles) {
    pressOnTitles(pressed_);
  } else if (left && event->modifiers() == Qt::NoModifier && edgeAt(pressed_)) {
    // Starts dragging that edge: the other one stays.
    drag_ = Drag::range;
    row_anchor_ = -1;
    kept_tracks_ = state_.range->tracks;
    range_anchor_ = *edgeAt(pressed_) == state_.range->from ? state_.range->to : state_.range->from;
  } else if (left) {
    drag_ = event->modifiers().testFlag(Qt::AltModifier) ? Drag::zoom : Drag::range;
    range_anchor_ = timeNear(pressed_, event->modifiers());
    row_anchor_ = rowAtLanes(pressed_);
    kept_tracks_.clear();
    if (event->modifiers().testFlag(Qt::ShiftModifier) && state_.range) {
      const TimeNs middle = state_.range->from + (state_.range->to - state_.range->from) / 2;
      const TimeNs time = range_anchor_;
      range_anchor_ = time < middle ? state_.range->to : state_.range->from;
      row_anchor_ = -1;
      kept_tracks_ = state_.range->tracks;
      selectRange(TimeRange{std::min(range_anchor_, time), std::max(range_anchor_, time), kept_tracks_});
    }
  }
}

std::optional<TimeNs> TimelineView::edgeAt(const QPointF& at) const {
  const SceneGeometry g = geometryNow();
  if (!state_.range || at.x() < g.titles || at.y() < g.minimap) return std::nullopt;
  for (const TimeNs edge : {state_.range->from, state_.range->to}) {
    if (std::abs(state_.view.xOf(static_cast<double>(edge)) - laneX(at)) <= kHandlePx) return edge;
  }
  return std::nullopt;
}

// While a range is drawn, its length is shown beside it.
void TimelineView::paintDraggedRange(QPainter& painter) const {
  if ((drag_ != Drag::range && drag_ != Drag::zoom) || !state_.range) return;
  const SceneGeometry g = geometryNow();
  const QString text =
      QString::fromStdString(showDuration(static_cast<double>(state_.range->to - state_.range->from)));
  const QSize size = fontMetrics().size(Qt::TextSingleLine, text) + QSize(12, 6);
  const int x = g.titles + static_cast<int>(state_.view.xOf(static_cast<double>(state_.range->to))) + 6;
  const QRect box(QPoint(std::clamp(x, g.titles, std::max(g.titles, g.width - size.width())), g.top() + 4),
                  size);
  painter.fillRect(box, palette().color(QPalette::ToolTipBase));
  painter.setPen(palette().color(QPalette::ToolTipText));
  painter.drawRect(box.adjusted(0, 0, -1, -1));
  painter.drawText(box, Qt::AlignCenter, text);
}

// The actions available here, from those that the window gave the timeline.
void TimelineView::contextMenuEvent(QContextMenuEvent* event) {
  if (!state_.timeline) return;
  EventRef hit;
  if (event->reason() == QContextMenuEvent::Mouse && hitAt(event->pos(), hit)) select(hit, false);
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  for (const char* id : {"view.fit", "view.range", "view.focus", "view.all", "view.back", "",
                         "select.as_range", "select.next_same", "select.parent", "select.child",
                         "select.follow", "select.follow_back", "", "rows.pin", "rows.hide", "rows.toggle"}) {
    if (*id == 0) menu->addSeparator();
    for (QAction* action : actions()) {
      if (action->objectName() == QLatin1String(id)) menu->addAction(action);
    }
  }
  if (menu->isEmpty()) return menu->deleteLater();
  menu->popup(event->globalPos());
}

double TimelineView::minimapTime(double x) const {
  const double span = static_cast<double>(viewport_.endNs() - viewport_.beginNs());
  return static_cast<double>(viewport_.beginNs()) + x / std::max(1, geometryNow().laneWidth()) * span;
}

// Inside the frame starts dragging it; elsewhere goes there, and zooms to the range that is then dragged
// over.
void TimelineView::pressOnMinimap(double x) {
  viewport_.remember();
  drag_ = Drag::minimap;
  const double time = minimapTime(x);
  const bool inside = time >= state_.view.start_ns && time <= state_.view.endNs();
  const bool whole = state_.view.start_ns <= static_cast<double>(viewport_.beginNs()) &&
                     state_.view.endNs() >= static_cast<double>(viewport_.endNs());
  minimap_grab_.reset();
  if (inside && !whole) {
    minimap_grab_ = time - (state_.view.start_ns + state_.view.endNs()) / 2;
  } else if (!whole) {
    minimapTo(x);
  }
}

void TimelineView::dragOnMinimap(double x) {
  const double start = laneX(pressed_);
  if (minimap_grab_) {
    const double middle = minimapTime(x) - *minimap_grab_;
    viewport_.show(middle, middle);
  } else if (std::abs(x - start) >= kDragPx) {
    viewport_.show(minimapTime(std::min(x, start)), minimapTime(std::max(x, start)));
  }
  changed();
}

void TimelineView::minimapTo(double x) {
  const double time = minimapTime(x);
  viewport_.show(time, time);
  changed();
}

// Over the rows a drag takes those under it, from the rulers or below the rows all.
std::vector<std::size_t> TimelineView::tracksDragged(const QPointF& at) const {
  if (row_anchor_ < 0) return kept_tracks_;
  const SceneGeometry g = geometryNow();
  const double y = std::clamp(at.y(), static_cast<double>(g.top()), static_cast<double>(g.height - 1));
  const int row = rowAtLanes({at.x(), y});
  return tracksBetween(row_anchor_, row < 0 ? static_cast<int>(rows_.rows().size()) - 1 : row);
}

void TimelineView::mouseMoveEvent(QMouseEvent* event) {
  const QPointF at = event->position();
  if (drag_ == Drag::pan) {
    viewport_.panBy(last_.x() - at.x());
    verticalScrollBar()->setValue(verticalScrollBar()->value() + static_cast<int>(last_.y() - at.y()));
    changed();
  } else if (drag_ == Drag::minimap) {
    dragOnMinimap(laneX(at));
  } else if (drag_ == Drag::row) {
    if (row_moved_ || std::abs(at.y() - pressed_.y()) >= kDragPx) dragRow(at);
  } else if ((drag_ == Drag::range || drag_ == Drag::zoom) && std::abs(at.x() - pressed_.x()) >= kDragPx) {
    const TimeNs time = timeNear(at, event->modifiers());
    state_.range = TimeRange{std::min(range_anchor_, time), std::max(range_anchor_, time), tracksDragged(at)};
    viewport()->update();
  } else if (drag_ == Drag::titles) {
    resizeTitles(static_cast<int>(at.x()));
  }
  if (drag_ == Drag::none) {
    viewport()->setCursor(edgeAt(at) || onTitlesEdge(at) ? Qt::SplitHCursor : Qt::ArrowCursor);
    hoverTitles(at);
  }
  hoverLanes(at);
  last_ = at;
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event) {
  const Drag drag = drag_;
  drag_ = Drag::none;
  const bool moved = std::abs(event->position().x() - pressed_.x()) >= kDragPx;
  if (drag == Drag::row) return releaseOnTitles(event->position());
  if (drag == Drag::zoom && moved && state_.range) {
    const TimeRange range = *state_.range;
    state_.range.reset();
    showTimes(range.from, range.to);
  } else if (drag == Drag::range && moved) {
    emit rangeSelected();
  } else if (drag == Drag::range && !event->modifiers().testFlag(Qt::ShiftModifier)) {
    const CriticalStep* step = pathStepAt(event->position());
    if (step != nullptr && step->event) return selectOnPath(*step->event);
    EventRef hit;
    select(hitAt(event->position(), hit) ? std::optional(hit) : std::nullopt, false);
    // A row without an event there is taken all the same, for the keys that act on rows.
    if (const int row = rowAtLanes(event->position()); row >= 0)
      state_.focused_row = static_cast<std::size_t>(row);
  }
}

void TimelineView::mouseDoubleClickEvent(QMouseEvent* event) {
  const SceneGeometry g = geometryNow();
  if (onTitlesEdge(event->position())) return fitTitles();
  if (!state_.timeline || event->position().x() < g.titles) return;
  const CriticalStep* step = pathStepAt(event->position());
  if (step != nullptr) return showTimes(step->from, step->to);
  if (event->position().y() < g.top()) return showAll();
  EventRef hit;
  if (!hitAt(event->position(), hit)) return;
  select(hit, false);
  focused_ = hit;  // a double click fits at once
  focusSelection();
  emit activated();
}

QString TimelineView::tipAt(const QPointF& at) const {
  if (at.x() < geometryNow().titles) return titleTipAt(at);
  if (const CriticalStep* step = pathStepAt(at)) return describeStep(*step);
  if (const QString state = stateTipAt(at); !state.isEmpty()) return state;
  EventRef event;
  const auto hit = hitAt(at, event);
  if (!hit) return {};
  const Lane& lane = state_.timeline->tracks[event.track].lanes[event.lane];
  const QString name =
      QString::fromStdString(fullNameOf(*state_.timeline, {event.track, event.lane, hit->index}));
  const QString dur = QString::fromStdString(showDuration(static_cast<double>(lane.durNs(hit->index))));
  if (hit->count > 1) return tr("%1 events, longest: %2, %3").arg(hit->count).arg(name, dur);
  return tr("%1, %2, starts at %3")
      .arg(name, dur, QString::fromStdString(showMoment(static_cast<double>(lane.startNs(hit->index)), 1)));
}

// One step back undoes a whole pinch.
void TimelineView::pinchBy(const QPointF& at, double factor, bool begins) {
  if (begins) viewport_.remember();
  viewport_.zoomAt(laneX(at), 1 / std::clamp(factor, 0.2, 5.0));
  changed();
}

bool TimelineView::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const QString tip = tipAt(help->pos());
    tip.isEmpty() ? QToolTip::hideText() : QToolTip::showText(help->globalPos(), tip, viewport());
    return true;
  }
  if (event->type() == QEvent::Leave) {
    hoverTitles({-1, -1});
    hoverLanes({-1, -1});
  }
  if (event->type() == QEvent::NativeGesture && state_.timeline) {
    const auto* gesture = static_cast<QNativeGestureEvent*>(event);
    if (gesture->gestureType() == Qt::EndNativeGesture) pinching_ = false;
    if (gesture->gestureType() != Qt::ZoomNativeGesture) return false;
    pinchBy(gesture->position(), 1 + gesture->value(), !pinching_);
    pinching_ = true;
    return true;
  }
  if (event->type() == QEvent::Gesture && state_.timeline) {
    const auto* gesture = static_cast<QGestureEvent*>(event)->gesture(Qt::PinchGesture);
    if (const auto* pinch = static_cast<const QPinchGesture*>(gesture)) {
      pinchBy(viewport()->mapFromGlobal(pinch->centerPoint()), pinch->scaleFactor(),
              pinch->state() == Qt::GestureStarted);
      return true;
    }
  }
  return QAbstractScrollArea::viewportEvent(event);
}

void TimelineView::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Space && !event->isAutoRepeat()) space_ = true;
  QAbstractScrollArea::keyPressEvent(event);
}

void TimelineView::keyReleaseEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Space && !event->isAutoRepeat()) space_ = false;
  QAbstractScrollArea::keyReleaseEvent(event);
}

}  // namespace pitwall::gui
