// Paints the cursors: lines at moments, the value of each counter there, and differences between two of them.
#pragma once

#include <QPainter>
#include <QPalette>
#include <vector>

#include "gui/views/scene_state.h"

namespace pitwall::gui {

// A counter's value at a cursor, as painted and as described in words.
struct CursorValue {
  std::size_t row = 0;  // of RowLayout::rows()
  TimeNs time = 0;
  QString text;  // "3.0 MiB", with the difference to the reference: "3.0 MiB (+1.5 MiB)"
};

// Of the rows in sight: at the mouse, at the fixed cursor, and at the edges of the selected range. Differences are to the fixed cursor,
// at the end of a range to its begin.
std::vector<CursorValue> cursorValues(const SceneGeometry& geometry, const SceneState& state);

// Over the rows: lines and values. On the ruler: the times.
void paintCursorLines(QPainter& painter, const SceneGeometry& geometry, const SceneState& state,
                      const QPalette& colors);
void paintCursorTimes(QPainter& painter, const SceneGeometry& geometry, const SceneState& state,
                      const QPalette& colors);

}  // namespace pitwall::gui
