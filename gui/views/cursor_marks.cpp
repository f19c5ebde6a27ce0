#include "gui/views/cursor_marks.h"

#include <algorithm>
#include <cmath>

#include "analyzer/units_text.h"
#include "gui/timeline/counter_text.h"
#include "gui/timeline/time_axis.h"
#include "gui/views/memory_tags.h"

namespace pitwall::gui {
namespace {

constexpr int kLeastRow = 12;  // lower rows have no room for a value

struct Cursor {
  TimeNs time;
  std::optional<TimeNs> from;  // differences are to this moment
  bool fixed;
};

std::vector<Cursor> cursorsOf(const SceneState& s) {
  std::vector<Cursor> cursors;
  if (s.range) {
    cursors.push_back({s.range->from, std::nullopt, true});
    cursors.push_back({s.range->to, s.range->from, true});
  }
  if (s.fixed_cursor) cursors.push_back({*s.fixed_cursor, std::nullopt, true});
  if (s.cursor) cursors.push_back({*s.cursor, s.fixed_cursor, false});
  return cursors;
}

std::optional<double> valueAt(const TimelineTrack& chart, TimeNs time) {
  const std::size_t i = chart.counter.at(time);
  return i < chart.counter.size() ? std::optional(chart.counter.value(i)) : std::nullopt;
}

void paintTag(QPainter& painter, const QRectF& area, double x, double y, const QString& text,
              const QPalette& colors) {
  const QFontMetricsF metrics(painter.font());
  const double width = metrics.horizontalAdvance(text) + 8;
  const double left = x + 4 + width <= area.right() ? x + 4 : x - 4 - width;
  const QRectF box(std::max(area.left(), left), y, width, metrics.height());
  QColor behind = colors.color(QPalette::ToolTipBase);
  behind.setAlpha(235);
  painter.fillRect(box, behind);
  painter.setPen(colors.color(QPalette::ToolTipText));
  painter.drawText(box, Qt::AlignCenter, text);
}

}  // namespace

std::vector<CursorValue> cursorValues(const SceneGeometry& g, const SceneState& s) {
  std::vector<CursorValue> values;
  const auto [from, to] = rowsInSight(g, s);
  for (const Cursor& cursor : cursorsOf(s)) {
    for (std::size_t i = from; i < to; ++i) {
      const Row& row = s.rows->rows()[i];
      const TimelineTrack* chart = chartOf(*s.timeline, row);
      if (chart == nullptr || row.height < kLeastRow) continue;
      // A selected range is about its rows.
      const bool ranged = cursor.fixed && s.range && !s.range->tracks.empty();
      if (ranged && !std::ranges::binary_search(s.range->tracks, row.index)) continue;
      const auto value = valueAt(*chart, cursor.time);
      if (!value) continue;
      QString text = QString::fromStdString(showCounter(*value, chart->unit));
      const auto before = cursor.from ? valueAt(*chart, *cursor.from) : std::nullopt;
      if (before) text += " (" + QString::fromStdString(showDifference(*value - *before, chart->unit)) + ")";
      if (chart->memory && !before) text += ": " + memoryText(*chart->memory, cursor.time);
      values.push_back({i, cursor.time, text});
    }
  }
  return values;
}

void paintCursorLines(QPainter& painter, const SceneGeometry& g, const SceneState& s,
                      const QPalette& colors) {
  const auto xOf = [&](TimeNs time) { return g.titles + s.view.xOf(static_cast<double>(time)); };
  const auto inSight = [&](double x) { return x >= g.titles && x <= g.width; };
  for (const Cursor& cursor : cursorsOf(s)) {
    const double x = xOf(cursor.time);
    if (!inSight(x) || (cursor.fixed && s.range && cursor.time != s.fixed_cursor))
      continue;  // a range has its lines
    painter.setPen(QPen(colors.color(cursor.fixed ? QPalette::Highlight : QPalette::Dark), 1,
                        cursor.fixed ? Qt::SolidLine : Qt::DashLine));
    painter.drawLine(QPointF(x, g.top()), QPointF(x, g.height));
  }
  const QRectF area(g.titles, g.top(), g.laneWidth(), g.height - g.top());
  for (const CursorValue& value : cursorValues(g, s)) {
    const Row& row = s.rows->rows()[value.row];
    const double x = xOf(value.time);
    if (!inSight(x)) continue;
    const double y = g.top() + row.y - g.scroll_y + (row.height - painter.fontMetrics().height()) / 2.0;
    paintTag(painter, area, x, y, value.text, colors);
  }
}

void paintCursorTimes(QPainter& painter, const SceneGeometry& g, const SceneState& s,
                      const QPalette& colors) {
  const QRectF area(g.titles, g.minimap, g.laneWidth(), g.ruler);
  const double y = g.minimap + (g.ruler - painter.fontMetrics().height()) / 2.0;
  const auto xOf = [&](TimeNs time) { return g.titles + s.view.xOf(static_cast<double>(time)); };
  if (s.range) {
    // How long the range is, where its middle in sight is.
    const double from = std::max<double>(g.titles, xOf(s.range->from)),
                 to = std::min<double>(g.width, xOf(s.range->to));
    const QString text =
        QString::fromStdString(showDuration(static_cast<double>(s.range->to - s.range->from)));
    QColor shade = colors.color(QPalette::Highlight);
    shade.setAlpha(90);
    if (to > from) painter.fillRect(QRectF(from, g.minimap, to - from, g.ruler), shade);
    const double width = painter.fontMetrics().horizontalAdvance(text) + 8;
    if (to > from) paintTag(painter, area, (from + to - width) / 2 - 4, y, text, colors);
  }
  for (const auto& [time, from] :
       {std::pair(s.fixed_cursor, std::optional<TimeNs>()), std::pair(s.cursor, s.fixed_cursor)}) {
    if (!time || xOf(*time) < g.titles || xOf(*time) > g.width) continue;
    QString text = QString::fromStdString(showMoment(static_cast<double>(*time), s.view.ns_per_px));
    if (from) {
      const auto apart = static_cast<double>(*time - *from);
      text += QString(" (%1%2)").arg(apart < 0 ? "-" : "+",
                                     QString::fromStdString(showDuration(std::abs(apart))));
    }
    paintTag(painter, area, xOf(*time), y, text, colors);
  }
}

}  // namespace pitwall::gui
