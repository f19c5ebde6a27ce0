#include "gui/views/memory_tags.h"

#include <QFontMetrics>

#include "gui/timeline/counter_text.h"
#include "gui/timeline/memory_stack.h"

namespace pitwall::gui {

void paintMemoryTags(QPainter& painter, const QRect& place, int right, const std::vector<MemoryLayer>& layers,
                     const Palette& palette) {
  constexpr int kSpace = 4;
  const QFontMetrics metrics = painter.fontMetrics();
  const int side = metrics.ascent() - 2;
  int x = place.right() + kSpace;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const QString tag = QString::fromStdString(layers[i].tag);
    const QRect box(x, place.top(), side + metrics.horizontalAdvance(tag) + 3 * kSpace, place.height());
    if (box.right() > right) return;
    QColor behind(palette.background);
    behind.setAlpha(215);
    painter.fillRect(box, behind);
    painter.fillRect(QRect(x + kSpace, place.top() + (place.height() - side) / 2, side, side),
                     QColor(palette.color[memoryColor(i)]));
    painter.drawText(box.adjusted(side + 2 * kSpace, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, tag);
    x = box.right() + 1;
  }
}

QString memoryText(const std::vector<MemoryLayer>& layers, TimeNs time) {
  QStringList parts;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const double value = ownValue(layers, i, time);
    if (value <= 0) continue;
    parts += QString::fromStdString(layers[i].tag + " " + showCounter(value, "bytes"));
  }
  return parts.join(", ");
}

}  // namespace pitwall::gui
