// The column of row titles, kept as a picture while neither rows nor focus change: moving through time costs
// no text.
#pragma once

#include <QImage>
#include <QPainter>
#include <QPalette>
#include <string>

#include "gui/views/scene_state.h"

namespace pitwall::gui {

// Where the sign is that pins a row or takes it off.
QRect pinPlace(const SceneGeometry& geometry, const Row& row);

// The title as far as it fits: the part up to `distinct_to`, which distinguishes it from others, is left out last.
QString elidedTitle(const std::string& title, std::size_t distinct_to, const QFontMetrics& metrics,
                    int width);

// So wide must the column be for the row's title to fit.
int titleWidth(const Timeline& timeline, const Row& row, const QFontMetrics& metrics);

class RowTitles {
 public:
  // Titles, and the lines and process bars that go across the whole width.
  void paint(QPainter& painter, const SceneGeometry& geometry, const SceneState& state,
             const QPalette& colors);

 private:
  // Whatever the picture depends on.
  struct Key {
    const Timeline* timeline = nullptr;
    std::uint64_t rows = 0;
    int width = 0, height = 0, scroll_y = 0;
    double ratio = 0;
    std::size_t focused_row = 0;
    bool has_focus = false;
    qint64 colors = 0;
    QFont font;
    friend bool operator==(const Key&, const Key&) = default;
  };
  static void paintPin(QPainter& painter, const SceneGeometry& g, const SceneState& s,
                       const QPalette& colors);
  static void drawColumn(QPainter& painter, const SceneGeometry& g, const SceneState& s,
                         const QPalette& colors);

  Key key_;
  QImage column_;
};

}  // namespace pitwall::gui
