// The picture of many lanes, kept from frame to frame: moved sideways or down, only what came into view is
// drawn. A lane is kept as one line of pixels, however high it is shown, a counter as a line for each of its
// height. The lines of all lanes are numbered from the first lane on, and the picture is a torus: pixel p of
// line l is at column p mod width, row l mod the number of kept lines, so that moving it copies nothing.
#pragma once

#include <cstddef>
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

  // What is shown, from the top down, without a gap or an overlap.
  struct Part {
    int y = 0, height = 0;  // in the shown part
    // `lines` lines of width() pixels each, the leftmost shown one at column(); 1: the same `height` times,
    // 0: background.
    const std::uint32_t* pixels = nullptr;
    int lines = 0;
  };
  std::vector<Part> parts() const;

  int width() const { return width_; }
  int height() const { return height_; }
  int column() const { return wrapped(first_, width_); }
  std::uint32_t background() const { return renderer_.background(); }

  // 0xffRRGGBB of a pixel of the shown part.
  std::uint32_t at(int x, int y) const;

 private:
  static int wrapped(std::int64_t value, int size) {
    return static_cast<int>(((value % size) + size) % size);
  }
  static int linesOf(const CanvasLane& lane) { return lane.counter != nullptr ? lane.height : 1; }
  std::uint32_t* row(std::int64_t line);
  const std::uint32_t* row(std::int64_t line) const;
  // Columns [from, to) of the lanes [begin, end).
  void draw(std::int64_t from, std::int64_t to, std::size_t begin, std::size_t end);
  void keepLine(std::span<const std::uint32_t> pixels, std::int64_t from, std::int64_t line);

  CounterRange inPixel(const CounterSeries& counter, std::int64_t x) const;
  // A counter, its top line being `line`: as high as the greatest value of each pixel, an edge down to the
  // least.
  void drawCounter(const CanvasLane& lane, std::int64_t from, std::int64_t to, std::int64_t line);
  // The same of the parts of a counter, each in its colour.
  void drawMemory(const CanvasLane& lane, std::int64_t from, std::int64_t to, std::int64_t line);

  const Palette* palette_;
  LaneRenderer renderer_;
  std::vector<CanvasLane> lanes_;
  std::vector<std::int64_t> first_lines_;     // of each lane
  std::vector<std::uint32_t> pixels_, line_;  // pixels_: the torus, rows_ lines
  int width_ = 0, height_ = 0, rows_ = 0;
  int highest_ = 1;     // lines of a lane
  bool drawn_ = false;  // the members below say what the torus holds
  double ns_per_px_ = 1;
  std::int64_t first_ = 0, top_ = 0;
  std::size_t begin_ = 0, end_ = 0;  // lanes in sight
};

}  // namespace pitwall::gui
