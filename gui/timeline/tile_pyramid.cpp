#include "gui/timeline/tile_pyramid.h"

#include <algorithm>

namespace pitwall::gui {
namespace {

// What lies in each bin of a tile, summed up event by event.
struct BinSums {
  std::array<TimeNs, TilePyramid::kBins> covered{};
  std::array<TimeNs, TilePyramid::kBins> longest{};
  std::array<std::uint32_t, TilePyramid::kBins> starts{};  // events that start in the bin
  std::array<ColorIndex, TilePyramid::kBins> color{};
  std::array<bool, TilePyramid::kBins> touched{};
};

void addPiece(BinSums& sums, std::size_t bin, TimeNs piece, ColorIndex color) {
  sums.covered[bin] += piece;
  if (!sums.touched[bin] || piece > sums.longest[bin]) {
    sums.longest[bin] = piece;
    sums.color[bin] = color;
  }
  sums.touched[bin] = true;
}

void addEvent(BinSums& sums, const TilePyramid::Tile& tile, TimeNs start, TimeNs end, ColorIndex color) {
  const TimeNs tile_end = tile.start_ns + tile.bin_ns * TilePyramid::kBins;
  const TimeNs from = std::max(start, tile.start_ns);
  const TimeNs to = std::min(end, tile_end);
  if (start >= tile.start_ns) ++sums.starts[static_cast<std::size_t>((start - tile.start_ns) / tile.bin_ns)];
  auto bin = static_cast<std::size_t>((from - tile.start_ns) / tile.bin_ns);
  TimeNs at = from;
  do {
    const TimeNs bin_end = tile.start_ns + static_cast<TimeNs>(bin + 1) * tile.bin_ns;
    addPiece(sums, bin, std::max<TimeNs>(0, std::min(to, bin_end) - at), color);
    at = bin_end;
    ++bin;
  } while (at < to);
}

}  // namespace

TilePyramid::TilePyramid(const Lane& lane) {
  if (lane.size() <= kEventsPerTile) return;
  const TimeNs first = lane.startNs(0);
  const TimeNs span = lane.endNs(lane.size() - 1) - first + 1;
  tiles_.emplace_back();
  build(lane, 0, first, std::max<TimeNs>(1, (span + kBins - 1) / kBins));
  tiles_.shrink_to_fit();
}

void TilePyramid::build(const Lane& lane, std::size_t index, TimeNs start_ns, TimeNs bin_ns) {
  tiles_[index].start_ns = start_ns;
  tiles_[index].bin_ns = bin_ns;
  const TimeNs end_ns = start_ns + bin_ns * kBins;
  BinSums sums;
  for (std::size_t i = lane.firstReaching(start_ns); i < lane.size() && lane.startNs(i) < end_ns; ++i)
    addEvent(sums, tiles_[index], lane.startNs(i), lane.endNs(i), lane.color(i));

  for (std::size_t bin = 0; bin < kBins; ++bin) {
    if (!sums.touched[bin]) continue;
    tiles_[index].coverage[bin] = static_cast<std::uint8_t>(
        std::clamp<TimeNs>((sums.covered[bin] * 255 + bin_ns - 1) / bin_ns, 1, 255));
    tiles_[index].color[bin] = sums.color[bin];
    // Bins of one nanosecond cannot be divided: as many instants as there are lie on one time.
    if (sums.starts[bin] > kEventsPerTile && bin_ns > 1) tiles_[index].has_child.set(bin);
  }
  const auto first_child = static_cast<std::uint32_t>(tiles_.size());
  tiles_[index].first_child = first_child;
  tiles_.resize(tiles_.size() + tiles_[index].has_child.count());
  std::size_t rank = 0;
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    if (!tiles_[index].has_child.test(bin)) continue;
    build(lane, first_child + rank, start_ns + static_cast<TimeNs>(bin) * bin_ns,
          std::max<TimeNs>(1, (bin_ns + kBins - 1) / kBins));
    ++rank;
  }
}

}  // namespace pitwall::gui
