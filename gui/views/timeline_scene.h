// Paints the timeline: ruler, minimap, row titles, lanes, counters, selection. Knows nothing of input; the
// view tells it what to show. Lanes go into an image as lines of pixels, QPainter adds what is few: text,
// frames, charts.
#pragma once

#include <QImage>
#include <QPainter>
#include <QPalette>
#include <optional>
#include <vector>

#include "gui/timeline/hit.h"
#include "gui/timeline/lane_renderer.h"
#include "gui/timeline/row_layout.h"

namespace pitwall::gui {

struct TimeRange {
  TimeNs from = 0, to = 0;
};

// What of the timeline is where in the widget.
struct SceneGeometry {
  int width = 0, height = 0;
  int titles = 220;  // width of the row titles
  int ruler = 26;
  int minimap = 30;
  int scroll_y = 0;
  double pixel_ratio = 1;

  int top() const { return ruler + minimap; }  // of the rows
  int laneWidth() const { return width > titles ? width - titles : 0; }
};

struct SceneState {
  std::shared_ptr<const Timeline> timeline;
  const RowLayout* rows = nullptr;
  View view;
  std::optional<EventRef> selected;
  std::optional<TimeRange> range;
  std::vector<EventRef> highlighted;  // search hits, evidence
  std::vector<std::pair<EventRef, EventRef>> arrows;
  std::size_t focused_row = 0;
  bool has_focus = false;
  QString message;  // instead of rows: what to do, what went wrong
};

class TimelineScene {
 public:
  explicit TimelineScene(bool dark);

  void setDark(bool dark);
  void paint(QPainter& painter, const SceneGeometry& geometry, const SceneState& state,
             const QPalette& colors);
  // Rectangle of an event in the widget; empty when its row is not shown.
  static QRectF rectOf(const EventRef& event, const SceneGeometry& geometry, const SceneState& state);

 private:
  void paintRuler(QPainter& painter, const SceneGeometry& g, const SceneState& s,
                  const QPalette& colors) const;
  void paintMinimap(QPainter& painter, const SceneGeometry& g, const SceneState& s, const QPalette& colors);
  void paintTitles(QPainter& painter, const SceneGeometry& g, const SceneState& s,
                   const QPalette& colors) const;
  void paintLanes(QPainter& painter, const SceneGeometry& g, const SceneState& s);
  void paintLabels(QPainter& painter, const SceneGeometry& g, const SceneState& s) const;
  void paintCounters(QPainter& painter, const SceneGeometry& g, const SceneState& s,
                     const QPalette& colors) const;
  void paintMarks(QPainter& painter, const SceneGeometry& g, const SceneState& s,
                  const QPalette& colors) const;
  void drawLaneRow(const Row& row, const SceneGeometry& g, const SceneState& s, int scaled_top);

  bool dark_;
  const Palette* palette_;
  LaneRenderer renderer_;
  QImage lanes_;  // of the rows in sight, in device pixels
  std::vector<std::uint32_t> line_;
  QImage minimap_;
  const Timeline* minimap_of_ = nullptr;
};

}  // namespace pitwall::gui
