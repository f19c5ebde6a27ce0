// Paints time ranges over the rows that they are of.
#pragma once

#include <QColor>
#include <QPainter>

#include "gui/views/scene_state.h"

namespace pitwall::gui {

enum class RangeLook { selected, evidence };

void paintRange(QPainter& painter, const SceneGeometry& geometry, const SceneState& state,
                const TimeRange& range, RangeLook look, const QColor& color);

// What was searched for, in the rows in sight; of many in a pixel one stands for all.
void paintHits(QPainter& painter, const SceneGeometry& geometry, const SceneState& state,
               const QColor& color);

}  // namespace pitwall::gui
