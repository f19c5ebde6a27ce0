// Level of detail of a lane: tiles of 256 time bins, made only where a part of the time holds more than 256
// events. A bin of level 0 is a nanosecond wide, one of the next level four times as wide; bins begin at
// multiples of their width, the same in all lanes. Each tile has its bins in pairs, too: there is a bin for
// each power of two, so that at any scale one or two bins make a pixel.
//
// A bin keeps how much of it events cover and the colour of the longest piece in it. A frame takes the bins
// that are just narrower than a pixel, and the events themselves where there is no such tile: it costs
// pixels, not events. No event disappears: a bin that any event overlaps has a coverage of at least 1/255.
// Two to four bytes an event.
#pragma once

#include <array>
#include <cstdint>

#include "gui/timeline/lane.h"

namespace pitwall::gui {

class TilePyramid {
 public:
  static constexpr int kBins = 256;
  static constexpr int kQuarters = 4;
  static constexpr int kQuarterBins = kBins / kQuarters;
  static constexpr int kPairs = kBins / 2;
  static constexpr std::size_t kEventsPerTile = 256;

  struct Tile {
    TimeNs start_ns = 0;
    TimeNs longest_ns = 0;                         // duration of the longest event in it
    std::array<std::uint32_t, kQuarters> child{};  // tile of a quarter, one level below; 0 = none
    std::array<std::uint32_t, kQuarters> first{};  // first event that reaches into a quarter
    std::array<std::uint8_t, kBins> coverage{};    // 0 none, 1..255
    std::array<ColorIndex, kBins> color{};
    std::array<std::uint8_t, kPairs> pair_coverage{};
    std::array<ColorIndex, kPairs> pair_color{};
  };

  TilePyramid() = default;
  explicit TilePyramid(const Lane& lane);
  // Tiles made before: roots first. Every number in them must have been checked.
  TilePyramid(Column<Tile> tiles, std::uint32_t roots, int level)
      : tiles_(std::move(tiles)), roots_(roots), level_(level) {}

  bool empty() const { return roots_ == 0; }  // a lane with few events is drawn from its events
  std::span<const Tile> roots() const { return tiles_.values().first(roots_); }
  int rootLevel() const { return level_; }
  const Tile& tile(std::uint32_t index) const { return tiles_[index]; }
  static TimeNs binNs(int level) { return TimeNs{1} << (2 * level); }

  std::span<const Tile> tiles() const { return tiles_.values(); }
  // Of what is owned, not of a mapped file.
  std::size_t memoryBytes() const { return tiles_.memoryBytes(); }

 private:
  Column<Tile> tiles_;
  std::uint32_t roots_ = 0;  // one or two; more only where times fill their type
  int level_ = 0;
};

}  // namespace pitwall::gui
