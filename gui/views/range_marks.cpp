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

namespace {

void paintLaneHits(QPainter& painter, const SceneGeometry& g, const SceneState& s, const Lane& lane,
                   const std::vector<std::uint32_t>& hits, const QRectF& place) {
  const std::size_t first = lane.firstReaching(static_cast<TimeNs>(s.view.start_ns));
  auto hit = std::ranges::lower_bound(hits, first);
  const double end_ns = s.view.endNs();
  while (hit != hits.end() && static_cast<double>(lane.startNs(*hit)) < end_ns) {
    const double x0 = std::max(-2.0, s.view.xOf(static_cast<double>(lane.startNs(*hit))));
    const double x1 = std::min(g.laneWidth() + 2.0, s.view.xOf(static_cast<double>(lane.endNs(*hit))));
    const QRectF box(g.titles + x0, place.top(), std::max(2.0, x1 - x0), place.height());
    if (box.width() > 4) {
      painter.drawRect(box.adjusted(0.5, 0.5, -1, -0.5));
    } else {
      painter.fillRect(box, painter.pen().color());
    }
    const double next_ns = s.view.timeAt(std::max(x1, x0 + 2));
    ++hit;
    if (hit != hits.end() && static_cast<double>(lane.startNs(*hit)) < next_ns)
      hit = std::lower_bound(hit, hits.end(), lane.firstAt(static_cast<TimeNs>(next_ns)));
  }
}

}  // namespace

void paintHits(QPainter& painter, const SceneGeometry& g, const SceneState& s, const QColor& color) {
  if (!s.hits || s.hits->count() == 0) return;
  painter.setPen(QPen(color, 1.5));
  const auto [from, to] = rowsInSight(g, s);
  const int height = s.rows->metrics().lane;
  for (std::size_t i = from; i < to; ++i) {
    const Row& row = s.rows->rows()[i];
    if (row.is_process) continue;
    const auto& lanes = s.timeline->tracks[row.index].lanes;
    for (std::size_t l = 0; l < lanes.size() && static_cast<int>(l) < row.lanes; ++l) {
      const QRectF place(0, g.top() + row.y - g.scroll_y + static_cast<int>(l) * height, 0, height - 1);
      const auto& hits = s.hits->ofLane(row.index, l);
      if (!hits.empty() && place.bottom() > g.top() && place.top() < g.height)
        paintLaneHits(painter, g, s, lanes[l], hits, place);
    }
  }
}

}  // namespace pitwall::gui
