// Draws a lane into one line of pixels. Plain C++, no QPainter: a frame of 256 lanes takes milliseconds at
// any number of events.
//
// The rule: a pixel has the colour of the longest piece of an event in it, at 25 % plus 75 % of the share of
// its time that events cover. A lone event of one nanosecond is thus always at least a quarter visible.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gui/timeline/palette.h"
#include "gui/timeline/tile_pyramid.h"
#include "gui/timeline/viewport.h"

namespace pitwall::gui {

class LaneRenderer {
 public:
  explicit LaneRenderer(const Palette& palette);

  // Writes `row`, view.width_px pixels 0xffRRGGBB: the background where there is nothing.
  void draw(const Lane& lane, const TilePyramid& pyramid, const View& view, std::span<std::uint32_t> row);

 private:
  struct Pixel {
    float covered;  // share of the pixel's time
    float longest;
    ColorIndex color;
  };

  void drawTile(const TilePyramid::Tile& tile);
  void drawBin(const TilePyramid::Tile& tile, std::size_t bin, double from_px, double to_px);
  void drawEvents(TimeNs from, TimeNs to);
  void add(double from_px, double to_px, double share, ColorIndex color);

  static constexpr int kShades = 64;
  std::vector<std::uint32_t> shades_;  // [color][coverage], as the pixel rule says
  std::uint32_t background_;

  // Of the call in progress.
  const Lane* lane_ = nullptr;
  const TilePyramid* pyramid_ = nullptr;
  View view_;
  std::vector<Pixel> pixels_;
};

}  // namespace pitwall::gui
