// The critical path on the timeline: its lane, its filter and the steps along it.
#include "gui/views/critical_lane.h"
#include "gui/views/timeline_view.h"

namespace pitwall::gui {

void TimelineView::setCriticalPath(std::shared_ptr<const CriticalSteps> path) {
  if (path && path->steps.empty()) path.reset();
  state_.path = std::move(path);
  rowsChanged();
  changed();
}

void TimelineView::togglePathOnly() {
  state_.path_only = !state_.path_only;
  viewport()->update();
}

void TimelineView::stepOnPath(bool forward) {
  if (!state_.path) return;
  const auto& path = *state_.path;
  std::optional<std::size_t> step = state_.selected ? path.stepOf(*state_.selected) : std::nullopt;
  if (step) {
    step = path.nextEvent(*step, forward);
  } else {
    // The first in sight.
    step = path.stepAt(static_cast<TimeNs>(state_.view.start_ns)).value_or(0);
    if (!path.steps[*step].event) step = path.nextEvent(*step, true);
  }
  if (step) selectOnPath(*path.steps[*step].event);
}

// Its row may be closed or hidden.
void TimelineView::selectOnPath(const EventRef& event) {
  const int row = rows_.rowOfTrack(event.track);
  if (row < 0 || static_cast<int>(event.lane) >= rows_.rows()[static_cast<std::size_t>(row)].lanes) {
    rows_.reveal(event.track);
    rowsChanged();
  }
  select(event, true);
}

const CriticalStep* TimelineView::pathStepAt(const QPointF& at) const {
  if (!state_.path || !inCriticalLane(geometryNow(), at.y()) || laneX(at) < 0) return nullptr;
  const auto step = state_.path->stepAt(static_cast<TimeNs>(state_.view.timeAt(laneX(at))));
  return step ? &state_.path->steps[*step] : nullptr;
}

}  // namespace pitwall::gui
