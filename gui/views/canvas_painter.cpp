#include "gui/views/canvas_painter.h"

#include <QImage>
#include <QPaintEngine>
#include <QRegion>
#include <QTransform>
#include <algorithm>
#include <cstring>

namespace pitwall::gui {
namespace {

// The image below a painter whose pixels are those of the canvas; null: there is none.
QImage* imageBelow(const QPainter& painter, double pixel_ratio) {
  if (painter.paintEngine()->type() != QPaintEngine::Raster || painter.opacity() < 1) return nullptr;
  const QTransform& transform = painter.deviceTransform();
  if (transform.type() > QTransform::TxScale || !qFuzzyCompare(transform.m11(), pixel_ratio) ||
      !qFuzzyCompare(transform.m22(), pixel_ratio))
    return nullptr;
  auto* const image = dynamic_cast<QImage*>(painter.paintEngine()->paintDevice());
  if (image == nullptr) return nullptr;
  const QImage::Format format = image->format();
  return format == QImage::Format_RGB32 || format == QImage::Format_ARGB32_Premultiplied ? image : nullptr;
}

// What of `place`, in pixels of the image, may be painted.
QRegion visiblePart(const QPainter& painter, const QRect& place, const QImage& image) {
  QRegion visible(place & image.rect());
  const QRegion window = painter.paintEngine()->systemClip();
  if (!window.isEmpty()) visible &= window;
  if (painter.hasClipping()) visible &= painter.deviceTransform().map(painter.clipRegion());
  return visible;
}

// The pixels of `canvas` in `visible` of the image, the upper left one at `at`.
void copyLines(const LaneCanvas& canvas, QImage& image, const QPoint& at, const QRect& visible) {
  const int width = canvas.width(), column = canvas.column();
  const int left = visible.left() - at.x(), right = left + visible.width();
  // What is shown is two pieces of the torus: from its column to its edge, and from the edge on.
  const int edge = width - column;
  const int first_end = std::min(right, edge), second = std::max(left, edge);
  for (const LaneCanvas::Part& part : canvas.parts()) {
    const int top = std::max(part.y, visible.top() - at.y());
    const int bottom = std::min(part.y + part.height, visible.bottom() + 1 - at.y());
    for (int y = top; y < bottom; ++y) {
      // Not scanLine(): an image that is shared would give its copy, and the painter paints into this one.
      auto* const to =
          reinterpret_cast<std::uint32_t*>(const_cast<uchar*>(image.constScanLine(at.y() + y))) + at.x();
      if (part.lines == 0) {
        std::fill(to + left, to + right, canvas.background());
        continue;
      }
      const std::uint32_t* const from =
          part.pixels + (part.lines > 1 ? std::ptrdiff_t{y - part.y} * width : 0);
      if (left < first_end)
        std::memcpy(to + left, from + column + left,
                    static_cast<std::size_t>(first_end - left) * sizeof(*to));
      if (second < right)
        std::memcpy(to + second, from + (second - edge),
                    static_cast<std::size_t>(right - second) * sizeof(*to));
    }
  }
}

}  // namespace

// Line by line into the window's own image: each lane is one line of the canvas, which stays in the
// processor's cache while it is written as often as the lane is high. QPainter has no call for that.
void paintCanvas(QPainter& painter, const LaneCanvas& canvas, QPointF at, double pixel_ratio) {
  const QSize size(canvas.width(), canvas.height());
  if (QImage* const image = imageBelow(painter, pixel_ratio)) {
    const QPoint origin = painter.deviceTransform().map(at).toPoint();
    for (const QRect& visible : visiblePart(painter, QRect(origin, size), *image))
      copyLines(canvas, *image, origin, visible);
    return;
  }
  QImage picture(size, QImage::Format_RGB32);  // a drawing, as SVG, takes one picture
  copyLines(canvas, picture, {}, picture.rect());
  picture.setDevicePixelRatio(pixel_ratio);
  painter.drawImage(at, picture);
}

}  // namespace pitwall::gui
