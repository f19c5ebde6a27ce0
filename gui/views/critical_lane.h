// The critical path on the timeline: a lane of its own above the rows, and the rows with all else faded.
#pragma once

#include <QPainter>
#include <QPalette>

#include "gui/timeline/palette.h"
#include "gui/views/scene_state.h"

namespace pitwall::gui {

// Each step in the colour of its event, with its name where there is room; gaps between events are hatched.
void paintCriticalLane(QPainter& painter, const SceneGeometry& geometry, const SceneState& state,
                       const Palette& events, const QPalette& colors);

// Covers what is not on the path with the background.
void fadeAllButPath(QPainter& painter, const SceneGeometry& geometry, const SceneState& state,
                    const Palette& events);

// Whether that line of the widget is in the lane.
bool inCriticalLane(const SceneGeometry& geometry, double y);

// "kernel: gemm, 12 us" or, of a gap, "launch delay, 3 us".
QString describeStep(const CriticalStep& step);
// "step 3 of 8, 5.00 us of it, after launch delay, 3.00 us"; empty: the event is not on the path.
QString describePlace(const CriticalSteps& path, const EventRef& event);

}  // namespace pitwall::gui
