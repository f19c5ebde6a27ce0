// Notes and the temporary mark as the timeline shows them, over its picture.
#pragma once

#include <QPainter>

#include "gui/models/trace_notes.h"
#include "gui/views/timeline_scene.h"

namespace pitwall::gui {

void paintNotes(QPainter& painter, const SceneGeometry& geometry, const View& view,
                const std::vector<Note>& notes, const std::optional<TimeRange>& mark);

}  // namespace pitwall::gui
