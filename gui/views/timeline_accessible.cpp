#include "gui/views/timeline_accessible.h"

#include <QAccessibleWidget>
#include <QPointer>
#include <map>

#include "analyzer/units_text.h"
#include "gui/timeline/time_axis.h"
#include "gui/views/timeline_view.h"

namespace pitwall::gui {
namespace {

QString words(const std::string& text) { return QString::fromStdString(text); }

// Rows at least partly in sight, as [first, last).
std::pair<std::size_t, std::size_t> rowsInSight(const TimelineView& view) {
  const auto& rows = view.rows().rows();
  const SceneGeometry g = view.geometryNow();
  auto first = static_cast<std::size_t>(std::max(0, view.rows().rowAt(g.scroll_y)));
  auto last = first;
  while (last < rows.size() && rows[last].y < g.scroll_y + g.height - g.top()) ++last;
  return {first, last};
}

QRect onScreen(const TimelineView& view, const QRect& rect) {
  return {view.viewport()->mapToGlobal(rect.topLeft()), rect.size()};
}

int rowOfSelected(const TimelineView& view) {
  return view.selected() ? view.rows().rowOfTrack(view.selected()->track) : -1;
}

// What rows and the selected event have in common: parts of a timeline that are no widgets.
class Part : public QAccessibleInterface {
 public:
  explicit Part(TimelineView* view) : view_(view) {}
  QObject* object() const override { return nullptr; }
  QAccessibleInterface* childAt(int x, int y) const override {
    for (int i = 0; i < childCount(); ++i) {
      if (child(i)->rect().contains(x, y)) return child(i);
    }
    return nullptr;
  }
  void setText(QAccessible::Text, const QString&) override {}
  QAccessible::Role role() const override { return QAccessible::ListItem; }

 protected:
  QPointer<TimelineView> view_;
};

class AccessibleTimeline final : public QAccessibleWidget, public QAccessibleValueInterface {
 public:
  explicit AccessibleTimeline(TimelineView* view)
      : QAccessibleWidget(view, QAccessible::List, view->accessibleName()), view_(view) {}
  ~AccessibleTimeline() override {
    for (const auto& [row, id] : rows_) QAccessible::deleteAccessibleInterface(id);
    if (event_ != 0) QAccessible::deleteAccessibleInterface(event_);
  }

  int childCount() const override {
    const auto [first, last] = rowsInSight(*view_);
    return static_cast<int>(last - first);
  }
  QAccessibleInterface* child(int index) const override {
    const auto [first, last] = rowsInSight(*view_);
    if (index < 0 || static_cast<std::size_t>(index) >= last - first) return nullptr;
    return row(first + static_cast<std::size_t>(index));
  }
  QAccessibleInterface* childAt(int x, int y) const override {
    for (int i = 0; i < childCount(); ++i) {
      if (child(i)->rect().contains(x, y)) return child(i);
    }
    return nullptr;
  }
  int indexOfChild(const QAccessibleInterface* part) const override {
    for (int i = 0; i < childCount(); ++i) {
      if (child(i) == part) return i;
    }
    return -1;
  }
  QAccessibleInterface* focusChild() const override {
    if (const int at = rowOfSelected(*view_); at >= 0) return event();
    const std::size_t focused = view_->focusedRow();
    return focused < view_->rows().rows().size() ? row(focused) : nullptr;
  }
  QString text(QAccessible::Text kind) const override {
    if (kind == QAccessible::Value && view_->timeline()) {
      const View& v = view_->viewportModel().view();
      return TimelineView::tr("%1 to %2 of %3")
          .arg(words(showMoment(v.start_ns, v.ns_per_px)), words(showMoment(v.endNs(), v.ns_per_px)),
               words(showDuration(whole())));
    }
    return QAccessibleWidget::text(kind);
  }
  void* interface_cast(QAccessible::InterfaceType type) override {
    if (type == QAccessible::ValueInterface) return static_cast<QAccessibleValueInterface*>(this);
    return QAccessibleWidget::interface_cast(type);
  }

  // Percent of the trace in view.
  QVariant currentValue() const override {
    const View& v = view_->viewportModel().view();
    return std::min(100.0, 100 * v.ns_per_px * v.width_px / std::max(1.0, whole()));
  }
  void setCurrentValue(const QVariant& value) override {
    const View v = view_->viewportModel().view();
    const double span = whole() * std::clamp(value.toDouble(), 1e-7, 100.0) / 100;
    const double middle = v.start_ns + v.ns_per_px * v.width_px / 2;
    view_->placeView(middle - span / 2, span / std::max(1, v.width_px));
  }
  QVariant maximumValue() const override { return 100.0; }
  QVariant minimumValue() const override { return 0.0; }
  QVariant minimumStepSize() const override { return 0.0; }

  QAccessibleInterface* row(std::size_t index) const;
  QAccessibleInterface* event() const;

 private:
  double whole() const {
    return static_cast<double>(view_->viewportModel().endNs() - view_->viewportModel().beginNs());
  }

  TimelineView* view_;  // outlives this: the accessible object of a QObject goes with it
  mutable std::map<std::size_t, QAccessible::Id> rows_;
  mutable QAccessible::Id event_ = 0;
};

AccessibleTimeline* timelineOf(TimelineView* view) {
  return static_cast<AccessibleTimeline*>(QAccessible::queryAccessibleInterface(view));
}

class AccessibleRow final : public Part {
 public:
  AccessibleRow(TimelineView* view, std::size_t row) : Part(view), row_(row) {}
  bool isValid() const override { return view_ && row_ < view_->rows().rows().size(); }
  QAccessibleInterface* parent() const override { return timelineOf(view_); }
  int childCount() const override {
    return isValid() && rowOfSelected(*view_) == static_cast<int>(row_) ? 1 : 0;
  }
  QAccessibleInterface* child(int index) const override {
    return index == 0 && childCount() == 1 ? timelineOf(view_)->event() : nullptr;
  }
  int indexOfChild(const QAccessibleInterface* part) const override {
    return part == child(0) && part != nullptr ? 0 : -1;
  }
  QRect rect() const override {
    if (!isValid()) return {};
    const SceneGeometry g = view_->geometryNow();
    const Row& row = view_->rows().rows()[row_];
    return onScreen(*view_, QRect(0, g.top() + row.y - g.scroll_y, g.width, row.height));
  }
  QAccessible::State state() const override {
    QAccessible::State state;
    state.focusable = true;
    state.selectable = true;
    if (!isValid()) return state;
    const Row& row = view_->rows().rows()[row_];
    state.focused = view_->hasFocus() && view_->focusedRow() == row_;
    state.expandable = row.is_process || view_->timeline()->tracks[row.index].lanes.size() > 1;
    state.expanded = state.expandable && row.open;
    state.collapsed = state.expandable && !row.open;
    return state;
  }
  QString text(QAccessible::Text kind) const override {
    if (!isValid() || !view_->timeline()) return {};
    const Row& row = view_->rows().rows()[row_];
    if (row.is_process)
      return kind == QAccessible::Name ? words(view_->timeline()->processes[row.index].title) : QString();
    const TimelineTrack& track = view_->timeline()->tracks[row.index];
    if (kind == QAccessible::Name) return words(track.title);
    if (kind != QAccessible::Description) return {};
    const QString count = track.kind == TrackKind::counter
                              ? TimelineView::tr("%1 samples").arg(track.counter.size())
                              : TimelineView::tr("%1 events").arg(track.events);
    return row.pinned ? TimelineView::tr("%1, pinned").arg(count) : count;
  }

 private:
  std::size_t row_;
};

class AccessibleEvent final : public Part {
 public:
  using Part::Part;
  bool isValid() const override { return view_ && view_->selected() && view_->timeline(); }
  QAccessibleInterface* parent() const override {
    const int at = isValid() ? rowOfSelected(*view_) : -1;
    return at < 0 ? static_cast<QAccessibleInterface*>(timelineOf(view_))
                  : timelineOf(view_)->row(static_cast<std::size_t>(at));
  }
  int childCount() const override { return 0; }
  QAccessibleInterface* child(int) const override { return nullptr; }
  int indexOfChild(const QAccessibleInterface*) const override { return -1; }
  QRect rect() const override {
    if (!isValid()) return {};
    return onScreen(*view_, view_->rectOf(*view_->selected()).toAlignedRect());
  }
  QAccessible::State state() const override {
    QAccessible::State state;
    state.focusable = state.selectable = state.selected = true;
    state.focused = view_ && view_->hasFocus();
    return state;
  }
  QString text(QAccessible::Text kind) const override {
    return isValid() && kind == QAccessible::Name ? describeSelected(*view_) : QString();
  }
};

QAccessibleInterface* AccessibleTimeline::row(std::size_t index) const {
  const auto found = rows_.find(index);
  if (found != rows_.end()) return QAccessible::accessibleInterface(found->second);
  auto* made = new AccessibleRow(view_, index);
  rows_[index] = QAccessible::registerAccessibleInterface(made);
  return made;
}

QAccessibleInterface* AccessibleTimeline::event() const {
  if (event_ == 0) event_ = QAccessible::registerAccessibleInterface(new AccessibleEvent(view_));
  return QAccessible::accessibleInterface(event_);
}

QAccessibleInterface* make(const QString&, QObject* object) {
  auto* view = qobject_cast<TimelineView*>(object);
  return view == nullptr ? nullptr : new AccessibleTimeline(view);
}

}  // namespace

void installTimelineAccessibility() {
  static const bool kInstalled = (QAccessible::installFactory(make), true);
  (void)kInstalled;
}

QString describeSelected(const TimelineView& view) {
  if (!view.selected() || !view.timeline()) return {};
  const EventRef& event = *view.selected();
  const TimelineTrack& track = view.timeline()->tracks[event.track];
  const Lane& lane = track.lanes[event.lane];
  return TimelineView::tr("%1, %2, on %3, starts at %4")
      .arg(words(view.timeline()->name(lane.name(event.index))),
           words(showDuration(static_cast<double>(lane.durNs(event.index)))), words(track.title),
           words(showMoment(static_cast<double>(lane.startNs(event.index)), 1)));
}

void announceSelection(TimelineView& view) {
  if (!QAccessible::isActive()) return;
  QAccessibleInterface* focused = timelineOf(&view)->focusChild();
  if (focused == nullptr) return;
  QAccessibleEvent event(focused, QAccessible::Focus);
  QAccessible::updateAccessibility(&event);
}

void announceView(TimelineView& view) {
  if (!QAccessible::isActive()) return;
  QAccessibleValueChangeEvent event(&view, timelineOf(&view)->currentValue());
  QAccessible::updateAccessibility(&event);
}

}  // namespace pitwall::gui
