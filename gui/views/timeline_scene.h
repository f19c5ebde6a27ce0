// Paints the timeline: ruler, minimap, row titles, lanes, counters, selection. Does not handle input; the
// view sets what it shows. Lanes go into an image as lines of pixels, QPainter adds what is few: text,
// frames, charts.
#pragma once

#include <QImage>
#include <QPainter>
#include <QPalette>

#include "gui/timeline/lane_canvas.h"
#include "gui/views/label_cache.h"
#include "gui/views/row_titles.h"
#include "gui/views/scene_state.h"

namespace pitwall::gui {

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
  void paintIterations(QPainter& painter, const SceneGeometry& g, const SceneState& s,
                       const QPalette& colors) const;
  void paintMinimap(QPainter& painter, const SceneGeometry& g, const SceneState& s, const QPalette& colors);
  void paintLanes(QPainter& painter, const SceneGeometry& g, const SceneState& s);
  void paintLabels(QPainter& painter, const SceneGeometry& g, const SceneState& s);
  void paintCounterTexts(QPainter& painter, const SceneGeometry& g, const SceneState& s,
                         const QPalette& colors) const;
  void paintMarks(QPainter& painter, const SceneGeometry& g, const SceneState& s,
                  const QPalette& colors) const;
  void takeRows(const SceneGeometry& g, const SceneState& s);
  void drawMinimap(const View& whole, int height, const Timeline& timeline);

  bool dark_;
  const Palette* palette_;
  LaneCanvas canvas_;  // lanes and counters in sight, in device pixels
  std::shared_ptr<const Timeline> canvas_of_;
  std::uint64_t canvas_rows_ = 0;  // RowLayout::version()
  double canvas_ratio_ = 0;
  RowTitles titles_;
  LabelCache labels_;
  std::vector<std::size_t> wide_;
  QImage minimap_;
  std::shared_ptr<const Timeline> minimap_of_;
};

}  // namespace pitwall::gui
