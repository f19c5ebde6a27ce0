// A canvas in an image: the same pixels by every way, nothing outside of what may be painted.
#include "gui/views/canvas_painter.h"

#include <gtest/gtest.h>

#include <QImage>
#include <QPainter>

#include "gui/timeline/timeline.h"

namespace pitwall::gui::canvas_painter_test {
namespace {

constexpr int kWidth = 60, kHeight = 40;
constexpr QPoint kAt(7, 5);

// Lanes of three and a counter of twelve lines, moved by `moved` pixels since they were drawn first.
struct Shown {
  Lane lanes[2];
  TilePyramid pyramids[2];
  CounterSeries counter;
  LaneCanvas canvas{Palette::light()};

  explicit Shown(int moved, int ratio = 1) {
    for (int i = 0; i < 40; ++i) {
      lanes[0].append(i * 1000, 400 + i * 10, 1, static_cast<ColorIndex>(i % 5));
      lanes[1].append(i * 1300, 1300, 1, static_cast<ColorIndex>(i % 7));
    }
    for (int i = 0; i < 2; ++i) pyramids[i] = TilePyramid(lanes[i]);
    std::vector<CounterSample> samples;
    for (int i = 0; i < 100; ++i) samples.push_back({.time_ns = i * 700, .value = i % 13 * 1.0});
    counter = CounterSeries(samples);
    canvas.resize(kWidth * ratio, kHeight * ratio);
    canvas.setLanes({{2, 3, &lanes[0], &pyramids[0]},
                     {6, 12, nullptr, nullptr, &counter, nullptr},
                     {20, 7, &lanes[1], &pyramids[1]}});
    canvas.show(500, 0, 0);
    canvas.show(500, moved, moved / 4);
  }
};

QImage empty(QImage::Format format, int ratio = 1) {
  QImage image(80 * ratio, 60 * ratio, format);
  image.setDevicePixelRatio(ratio);
  image.fill(Qt::magenta);
  return image;
}

QImage painted(QImage image, const LaneCanvas& canvas, int ratio = 1, const QRect& clip = {}) {
  QPainter painter(&image);
  if (!clip.isNull()) painter.setClipRect(clip);
  paintCanvas(painter, canvas, kAt, ratio);
  painter.end();
  return image;
}

TEST(CanvasPainter, EachPixelIsTheCanvas) {
  for (const int moved : {0, 1, 17, 59, 61}) {
    const Shown shown(moved);
    const QImage image = painted(empty(QImage::Format_RGB32), shown.canvas);
    for (int y = 0; y < image.height(); ++y) {
      for (int x = 0; x < image.width(); ++x) {
        const QRect place(kAt, QSize(kWidth, kHeight));
        ASSERT_EQ(image.pixel(x, y), place.contains(x, y) ? shown.canvas.at(x - kAt.x(), y - kAt.y())
                                                          : QColor(Qt::magenta).rgb())
            << x << "," << y << " moved by " << moved;
      }
    }
  }
}

TEST(CanvasPainter, AnImageOfAnotherFormatShowsTheSame) {
  const Shown shown(23);
  EXPECT_EQ(painted(empty(QImage::Format_RGB888), shown.canvas).convertToFormat(QImage::Format_RGB32),
            painted(empty(QImage::Format_RGB32), shown.canvas));
}

TEST(CanvasPainter, PaintsOnlyWhereThePainterMay) {
  const Shown shown(23);
  const QRect clip(20, 9, 30, 11);
  const QImage whole = painted(empty(QImage::Format_RGB32), shown.canvas);
  const QImage part = painted(empty(QImage::Format_RGB32), shown.canvas, 1, clip);
  for (int y = 0; y < part.height(); ++y) {
    for (int x = 0; x < part.width(); ++x)
      ASSERT_EQ(part.pixel(x, y), clip.contains(x, y) ? whole.pixel(x, y) : QColor(Qt::magenta).rgb());
  }
}

TEST(CanvasPainter, ADensePictureHasItsOwnPixels) {
  const Shown shown(23, 2);
  const QImage image = painted(empty(QImage::Format_RGB32, 2), shown.canvas, 2);
  for (int y = 0; y < 2 * kHeight; ++y) {
    for (int x = 0; x < 2 * kWidth; ++x)
      ASSERT_EQ(image.pixel(2 * kAt.x() + x, 2 * kAt.y() + y), shown.canvas.at(x, y)) << x << "," << y;
  }
}

TEST(CanvasPainter, WhatTheImageDoesNotHoldIsLeftOut) {
  const Shown shown(23);
  QImage image = empty(QImage::Format_RGB32);
  QPainter painter(&image);
  paintCanvas(painter, shown.canvas, QPointF(-9, -4), 1);
  paintCanvas(painter, shown.canvas, QPointF(50, 45), 1);
  painter.end();
  EXPECT_EQ(image.pixel(0, 0), shown.canvas.at(9, 4));
  EXPECT_EQ(image.pixel(79, 59), shown.canvas.at(29, 14));
}

TEST(CanvasPainter, AnImageThatIsSharedKeepsItsOldCopy) {
  const Shown shown(23);
  QImage image = empty(QImage::Format_RGB32);
  const QImage before = image;
  QPainter painter(&image);
  paintCanvas(painter, shown.canvas, kAt, 1);
  painter.end();
  EXPECT_EQ(before, empty(QImage::Format_RGB32));
  EXPECT_EQ(image, painted(empty(QImage::Format_RGB32), shown.canvas));
}

}  // namespace
}  // namespace pitwall::gui::canvas_painter_test
