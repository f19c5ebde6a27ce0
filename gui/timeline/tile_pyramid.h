// Level of detail of a lane: tiles of 256 time bins, made only where a stretch of time holds more than 512
// events.
//
// A bin keeps how much of it events cover and the colour of the longest piece in it; a bin with many events
// has a tile of its own. A frame therefore costs pixels, not events, and nothing vanishes: a bin that any
// event touches has a coverage of at least 1/255. About 3 bytes an event.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <vector>

#include "gui/timeline/lane.h"

namespace pitwall::gui {

class TilePyramid {
 public:
  static constexpr int kBins = 256;
  static constexpr std::size_t kEventsPerTile = 512;

  struct Tile {
    TimeNs start_ns = 0;
    TimeNs bin_ns = 1;                           // width of a bin
    std::array<std::uint8_t, kBins> coverage{};  // 0 none, 1..255
    std::array<ColorIndex, kBins> color{};
    std::bitset<kBins> has_child;
    std::uint32_t first_child = 0;  // tiles of the bins with a child lie one after the other, in order
  };

  TilePyramid() = default;
  explicit TilePyramid(const Lane& lane);

  bool empty() const { return tiles_.empty(); }  // a lane with few events is drawn from its events
  const Tile& root() const { return tiles_.front(); }
  // The tile of bin `bin`, which must have one. `rank` is how many bins before it have one.
  const Tile& child(const Tile& tile, std::size_t rank) const { return tiles_[tile.first_child + rank]; }
  std::size_t memoryBytes() const { return tiles_.capacity() * sizeof(Tile); }

 private:
  void build(const Lane& lane, std::size_t index, TimeNs start_ns, TimeNs bin_ns);

  std::vector<Tile> tiles_;
};

}  // namespace pitwall::gui
