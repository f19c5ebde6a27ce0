#include "gui/views/range_marks.h"

#include <algorithm>

namespace pitwall::gui {
namespace {

// Rows in sight that belong to the range, neighbours together: top and bottom in pixels of the widget.
std::vector<std::pair<int, int>> stretchesOf(const SceneGeometry& g, const SceneState& s,
                                             const TimeRange& range) {
  std::vector<std::pair<int, int>> stretches;
  if (range.tracks.empty()) return {{g.top(), g.height}};
  const auto [from, to] = rowsInSight(g, s);
  const auto& rows = s.rows->rows();
  bool open = false;
  for (std::size_t i = from; i < to; ++i) {
    const bool in = !rows[i].is_process && std::ranges::binary_search(range.tracks, rows[i].index);
    const int top = g.top() + rows[i].y - g.scroll_y;
    if (in && !open) stretches.emplace_back(top, top);
    if (in) stretches.back().second = top + rows[i].height;
    open = in;
  }
  return stretches;
}

}  // namespace

void paintRange(QPainter& painter, const SceneGeometry& g, const SceneState& s, const TimeRange& range,
                RangeLook look, const QColor& color) {
  // Beyond the widget's edges numbers may be too large for a painter.
  const double x0 = g.titles + std::max(-10.0, s.view.xOf(static_cast<double>(range.from)));
  const double x1 = g.titles + std::min(g.laneWidth() + 10.0, s.view.xOf(static_cast<double>(range.to)));
  if (x1 < g.titles || x0 > g.width) return;
  QColor shade = color;
  shade.setAlpha(look == RangeLook::selected ? 50 : 70);
  for (const auto& [top, bottom] : stretchesOf(g, s, range)) {
    const QRectF area(x0, top, std::max(look == RangeLook::evidence ? 2.0 : 0.0, x1 - x0), bottom - top);
    painter.fillRect(area, look == RangeLook::selected ? QBrush(shade) : QBrush(color, Qt::BDiagPattern));
    if (look == RangeLook::evidence) painter.fillRect(area, shade);
    painter.setPen(QPen(color, look == RangeLook::evidence ? 2 : 1));
    painter.drawLine(area.topLeft(), area.bottomLeft());
    painter.drawLine(area.topRight(), area.bottomRight());
    if (look == RangeLook::selected && range.tracks.empty()) continue;
    painter.drawLine(area.topLeft(), area.topRight());
    painter.drawLine(area.bottomLeft(), area.bottomRight());
  }
}

}  // namespace pitwall::gui
