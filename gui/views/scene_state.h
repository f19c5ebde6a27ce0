// The state that a picture of the timeline is painted from.
#pragma once

#include <QString>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gui/models/critical_steps.h"
#include "gui/timeline/hit.h"
#include "gui/timeline/row_layout.h"
#include "gui/timeline/search_hits.h"

namespace pitwall::gui {

// A time range on some rows.
struct TimeRange {
  TimeNs from = 0, to = 0;
  std::vector<std::size_t> tracks = {};  // ascending; empty: all
};

// The layout of the timeline in the widget.
struct SceneGeometry {
  int width = 0, height = 0;
  int titles = 220;  // width of the row titles
  int ruler = 26;
  int minimap = 30;
  int iterations = 0;  // height of their ruler; 0 where the trace has none
  int path = 0;        // height of the critical path's lane; 0 where none is known
  int scroll_y = 0;
  double pixel_ratio = 1;

  int top() const { return ruler + minimap + iterations + path; }  // of the rows
  int laneWidth() const { return width > titles ? width - titles : 0; }
};

struct SceneState {
  std::shared_ptr<const Timeline> timeline;
  const RowLayout* rows = nullptr;
  View view;
  std::optional<EventRef> selected;
  std::optional<TimeRange> range;
  std::vector<EventRef> highlighted;       // evidence
  std::shared_ptr<const SearchHits> hits;  // null: none
  std::optional<TimeRange> marked;         // evidence that is no event, such as a gap
  std::vector<std::pair<EventRef, EventRef>> arrows;
  std::shared_ptr<const CriticalSteps> path;   // null: not known
  bool path_only = false;                      // what is not on the path is faded
  std::optional<TimeNs> cursor, fixed_cursor;  // where the mouse is; set by the user, to measure from
  std::size_t focused_row = 0;
  int hovered_row = -1;  // whose title the mouse is over
  bool has_focus = false;
  bool grid = false;  // the ruler's lines go on over the rows
  QString message;    // instead of rows: a hint or an error
};

// Rows that are at least partly in sight, as [first, last).
std::pair<std::size_t, std::size_t> rowsInSight(const SceneGeometry& geometry, const SceneState& state);

}  // namespace pitwall::gui
