// Arrows between events that waited for each other.
#pragma once

#include <QPainter>

#include "gui/views/scene_state.h"

namespace pitwall::gui {

// Curves with heads. The one that held back the selected event and the first to what waited for it are strong, others faint.
void paintArrows(QPainter& painter, const SceneGeometry& geometry, const SceneState& state, QColor ink);

}  // namespace pitwall::gui
