// Brings the picture of a LaneCanvas onto the screen.
#pragma once

#include <QPainter>

#include "gui/timeline/lane_canvas.h"

namespace pitwall::gui {

// Puts the shown part of `canvas`, whose pixels are device pixels, with its upper left corner at `at` of
// `painter`. `pixel_ratio`: device pixels for one of the painter's. Clipped as the painter is.
void paintCanvas(QPainter& painter, const LaneCanvas& canvas, QPointF at, double pixel_ratio);

}  // namespace pitwall::gui
