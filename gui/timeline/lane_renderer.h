// Draws a lane into one line of pixels. No QPainter: a frame of 256 lanes takes milliseconds at
// any number of events.
//
// The rule: a pixel has the colour of the longest piece of an event in it, at 25 % plus 75 % of the share of
// its time that events cover. A lone event of one nanosecond is thus always at least a quarter visible.
//
// Pixels are numbered from time 0 at the present scale: the colour of a pixel depends on its number and
// the scale, never on the other pixels that are drawn. So a picture can be moved and completed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gui/timeline/palette.h"
#include "gui/timeline/tile_pyramid.h"
#include "gui/timeline/viewport.h"

namespace pitwall::gui {

// Pixels first .. first + count - 1; pixel p covers [p * ns_per_px, (p + 1) * ns_per_px).
struct PixelRange {
  double ns_per_px = 1;
  std::int64_t first = 0;
  int count = 0;
  friend bool operator==(const PixelRange&, const PixelRange&) = default;
};
PixelRange pixelsOf(const View& view);

class LaneRenderer {
 public:
  explicit LaneRenderer(const Palette& palette) : palette_(palette) {}

  // What the next calls of draw() draw.
  void setPixels(const PixelRange& pixels);
  // The pixels, 0xffRRGGBB, the background where there is nothing. Valid until the next call.
  std::span<const std::uint32_t> draw(const Lane& lane, const TilePyramid& pyramid);

  // The same into `row`, view.width_px pixels.
  void draw(const Lane& lane, const TilePyramid& pyramid, const View& view, std::span<std::uint32_t> row);

  std::uint32_t background() const { return palette_.background; }

 private:
  // Where a bin of the width that fits the scale is, in pixels counted from the first one drawn.
  struct BinPlace {
    // In 1/256 of a pixel: of the bin, in pixel x and in the one after it.
    struct Weights {
      std::uint16_t here = 0, next = 0;
    };
    std::int32_t x = 0;
    Weights solid;  // where it is
    Weights thin;   // all of it in the pixel of its middle: what covers little of it stays narrow
  };
  struct Pen;
  struct Bins {
    const std::uint8_t* coverage;
    const ColorIndex* color;
    std::int64_t from, to;  // of the tile's bins, those whose places are known
    const BinPlace* place;  // of bin 0
  };

  void drawTile(const TilePyramid::Tile& tile, int level, Pen& pen);
  void drawBins(const TilePyramid::Tile& tile, int level, Pen& pen);
  void drawWideBins(const TilePyramid::Tile& tile, Pen& pen);
  static void drawFittingBins(const Bins& bins, Pen& pen);
  void drawEvents(std::size_t first, TimeNs from, TimeNs to, Pen& pen);
  void drawPiece(std::int64_t from, std::int64_t to, ColorIndex color, Pen& pen);
  // 1/256 of a pixel, from time 0 on.
  std::int64_t fixed(double time) const;
  std::int64_t at(TimeNs time) const { return fixed(static_cast<double>(time)); }
  void placeBins();
  void makeShades();

  static constexpr int kShades = 64;
  Palette palette_;
  std::vector<std::uint32_t> shades_;  // [color][coverage], as the pixel rule says; made when first used

  PixelRange pixels_;
  TimeNs from_ns_ = 0, to_ns_ = 0;  // of the pixels, a little more
  double scale_ = 256;              // 256 / ns_per_px
  int shift_ = 0;                   // bins of 2^shift_ ns are just narrower than a pixel
  std::int64_t first_bin_ = 0;      // of bins_
  std::vector<BinPlace> bins_;
  std::vector<std::uint32_t> line_;

  // Of the call in progress.
  const Lane* lane_ = nullptr;
  const TilePyramid* pyramid_ = nullptr;
};

}  // namespace pitwall::gui
