// The picture of many lanes, kept from frame to frame: moved sideways or down, only what came into view is
// drawn. The picture is a torus: pixel p of line y of the rows is at column p mod width, row y mod height,
// so that moving it copies nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gui/timeline/counter_series.h"
#include "gui/timeline/lane_renderer.h"
#include "gui/timeline/timeline.h"

namespace pitwall::gui {

struct CanvasLane {
  std::int64_t y = 0;  // below the top of the first row
  int height = 0;
  const Lane* lane = nullptr;
  const TilePyramid* pyramid = nullptr;
  const CounterSeries* counter = nullptr;            // instead of a lane
  const std::vector<MemoryLayer>* memory = nullptr;  // of the counter: its parts, in other colours
};

class LaneCanvas {
 public:
  explicit LaneCanvas(const Palette& palette) : palette_(&palette), renderer_(palette) {}

  // Forget the picture.
  void setPalette(const Palette& palette);
  void setLanes(std::vector<CanvasLane> lanes);  // ordered by y, none over another
  void resize(int width, int height);

  // Makes the pixels first .. first + width - 1 of the lines top .. top + height - 1.
  void show(double ns_per_px, std::int64_t first, std::int64_t top);

  // The torus, line by line, and where the shown part begins in it.
  std::span<const std::uint32_t> pixels() const { return pixels_; }
  int width() const { return width_; }
  int height() const { return height_; }
  int column() const { return wrapped(first_, width_); }
  int line() const { return wrapped(top_, height_); }

  // 0xffRRGGBB of a pixel of the shown part.
  std::uint32_t at(int x, int y) const;

 private:
  static int wrapped(std::int64_t value, int size) {
    return static_cast<int>(((value % size) + size) % size);
  }
  // Columns [from, to) of the lines [top, bottom).
  void draw(std::int64_t from, std::int64_t to, std::int64_t top, std::int64_t bottom);
  void copyLine(std::span<const std::uint32_t> line, std::int64_t from, std::int64_t y);
  void clearLine(std::int64_t from, std::int64_t to, std::int64_t y);

  CounterRange inPixel(const CounterSeries& counter, std::int64_t x) const;
  // The lines [y, end) of a counter: as high as the greatest value of each pixel, an edge down to the least.
  void drawCounter(const CanvasLane& lane, std::int64_t from, std::int64_t to, std::int64_t y,
                   std::int64_t end);
  // The same of the parts of a counter, each in its colour.
  void drawMemory(const CanvasLane& lane, std::int64_t from, std::int64_t to, std::int64_t y,
                  std::int64_t end);

  const Palette* palette_;
  LaneRenderer renderer_;
  std::vector<CanvasLane> lanes_;
  std::vector<std::uint32_t> pixels_, empty_, line_;
  int width_ = 0, height_ = 0;
  bool drawn_ = false;  // the members below say what the torus holds
  double ns_per_px_ = 1;
  std::int64_t first_ = 0, top_ = 0;
};

}  // namespace pitwall::gui
