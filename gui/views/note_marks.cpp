#include "gui/views/note_marks.h"

#include <algorithm>

namespace pitwall::gui {
namespace {

constexpr QRgb kNoteColor = 0xffd55e00, kMarkColor = 0xff0072b2;

struct Band {
  double from, to;  // pixels within the lanes
};

void paintBand(QPainter& painter, const SceneGeometry& g, const Band& band, QRgb rgb, const QString& text) {
  if (band.to < 0 || band.from > g.laneWidth()) return;
  const double from = g.titles + std::max(-2.0, band.from),
               to = g.titles + std::min(g.laneWidth() + 2.0, band.to);
  QColor color = QColor::fromRgb(rgb);
  color.setAlpha(28);
  painter.fillRect(QRectF(from, g.top(), to - from, g.height - g.top()), color);
  color.setAlpha(255);
  painter.setPen(QPen(color, 1, Qt::DashLine));
  for (const double x : {from, to}) painter.drawLine(QPointF(x, g.top()), QPointF(x, g.height));
  // The flag is at the lower edge, where it hides neither times nor the first rows.
  const QFontMetrics metrics = painter.fontMetrics();
  const double room = std::min(240.0, std::max(band.to - band.from, 60.0) - 6);
  const QString shown = metrics.elidedText(text.section('\n', 0, 0), Qt::ElideRight, static_cast<int>(room));
  const double width = shown.isEmpty() ? 8 : metrics.horizontalAdvance(shown) + 8;
  const double height = shown.isEmpty() ? 8 : metrics.height();
  const QRectF flag(from, g.height - height, width, height);
  painter.fillRect(flag, color);
  painter.setPen(Qt::white);
  painter.drawText(flag.adjusted(4, 0, -2, 0), Qt::AlignLeft | Qt::AlignVCenter, shown);
}

}  // namespace

void paintNotes(QPainter& painter, const SceneGeometry& g, const View& view, const std::vector<Note>& notes,
                const std::optional<TimeRange>& mark) {
  if (notes.empty() && !mark) return;
  painter.save();
  painter.setClipRect(QRect(g.titles, g.minimap, g.laneWidth(), g.height - g.minimap));
  for (const Note& note : notes) {
    paintBand(painter, g,
              {view.xOf(static_cast<double>(note.from_ns)), view.xOf(static_cast<double>(note.to_ns))},
              kNoteColor, note.text);
  }
  if (mark) {
    paintBand(painter, g,
              {view.xOf(static_cast<double>(mark->from)), view.xOf(static_cast<double>(mark->to))},
              kMarkColor, {});
  }
  painter.restore();
}

}  // namespace pitwall::gui
