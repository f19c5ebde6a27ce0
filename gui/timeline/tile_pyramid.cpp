#include "gui/timeline/tile_pyramid.h"

#include <algorithm>
#include <limits>
#include <memory>

namespace pitwall::gui {
namespace {

using Tile = TilePyramid::Tile;
constexpr int kBins = TilePyramid::kBins, kQuarters = TilePyramid::kQuarters,
              kQuarterBins = TilePyramid::kQuarterBins, kPairs = TilePyramid::kPairs;
constexpr int kBinBits = 8, kLevelBits = 2;
constexpr int kMostLevels = 28;  // bins of the last are 2^54 ns wide, which a few tiles hold all times with

// What is in each bin of a tile, in nanoseconds.
struct Sums {
  std::array<float, kBins> covered;
  std::array<float, kBins> longest;  // < 0: no event touches the bin
  std::array<ColorIndex, kBins> color;

  void clear() {
    covered.fill(0);
    longest.fill(-1);
    color.fill(0);
  }
  void add(std::size_t bin, float piece, ColorIndex piece_color) {
    covered[bin] += piece;
    if (piece > longest[bin]) {
      longest[bin] = piece;
      color[bin] = piece_color;
    }
  }
};

// What is in some bins that follow each other. Pieces of one colour that do, too, count as one.
struct Merged {
  float covered = 0, longest = -1;
  ColorIndex color = 0;

  Merged(const Sums& sums, std::size_t first, std::size_t count) {
    float run = 0;
    ColorIndex run_color = 0;
    for (std::size_t part = first; part < first + count; ++part) {
      if (sums.longest[part] < 0) {
        run = 0;
        continue;
      }
      covered += sums.covered[part];
      run = run > 0 && sums.color[part] == run_color ? run + sums.longest[part] : sums.longest[part];
      run_color = sums.color[part];
      if (run > longest) {
        longest = run;
        color = run_color;
      }
    }
  }
};

class Builder {
 public:
  explicit Builder(const Lane& lane)
      : lane_(lane), sums_(std::make_unique<std::array<Sums, kMostLevels>>()) {}

  // Fills tile `index`, whose start is set, and makes those below it. [first, end): events that start in it.
  void fill(std::uint32_t index, int level, std::size_t first, std::size_t end);

  std::vector<Tile> tiles;

 private:
  struct Quarter {
    std::size_t first, end;
    TimeNs from, to;
  };
  void addEvents(Sums& sums, Tile& tile, int level, const Quarter& quarter);
  static void merge(Sums& into, std::size_t first_bin, const Sums& below);
  static void finish(Tile& tile, const Sums& sums, int level);

  const LaneView lane_;
  std::unique_ptr<std::array<Sums, kMostLevels>> sums_;  // of the tile in work at each level
};

void Builder::fill(std::uint32_t index, int level, std::size_t first, std::size_t end) {
  const TimeNs start = tiles[index].start_ns;
  const TimeNs quarter_ns = TilePyramid::binNs(level) * kQuarterBins;
  Sums& sums = (*sums_)[static_cast<std::size_t>(level)];
  sums.clear();
  std::size_t at = first;
  for (std::size_t q = 0; q < kQuarters; ++q) {
    Quarter quarter{.first = at, .end = end, .from = start + static_cast<TimeNs>(q) * quarter_ns, .to = 0};
    // The last quarter may end where times do.
    if (__builtin_add_overflow(quarter.from, quarter_ns, &quarter.to))
      quarter.to = std::numeric_limits<TimeNs>::max();
    if (q + 1 < kQuarters) {
      const auto starts = lane_.starts().subspan(at, end - at);
      quarter.end = at + static_cast<std::size_t>(std::lower_bound(starts.begin(), starts.end(), quarter.to) -
                                                  starts.begin());
    }
    at = quarter.end;
    const bool reached = quarter.first > 0 && lane_.endNs(quarter.first - 1) > quarter.from;
    tiles[index].first[q] = static_cast<std::uint32_t>(quarter.first - (reached ? 1 : 0));
    if (level > 0 && quarter.end - quarter.first > TilePyramid::kEventsPerTile) {
      const auto child = static_cast<std::uint32_t>(tiles.size());
      tiles.emplace_back().start_ns = quarter.from;
      tiles[index].child[q] = child;
      fill(child, level - 1, quarter.first, quarter.end);
      merge(sums, q * kQuarterBins, (*sums_)[static_cast<std::size_t>(level - 1)]);
      tiles[index].longest_ns = std::max(tiles[index].longest_ns, tiles[child].longest_ns);
    } else {
      addEvents(sums, tiles[index], level, quarter);
    }
  }
  finish(tiles[index], sums, level);
}

void Builder::addEvents(Sums& sums, Tile& tile, int level, const Quarter& quarter) {
  const int shift = kLevelBits * level;
  std::size_t i = quarter.first;
  if (i > 0 && lane_.endNs(i - 1) > quarter.from) --i;
  for (; i < quarter.end; ++i) {
    const TimeNs start = std::max(lane_.startNs(i), quarter.from);
    const TimeNs end = std::min(lane_.endNs(i), quarter.to);
    const ColorIndex color = lane_.color(i);
    tile.longest_ns = std::max(tile.longest_ns, lane_.durNs(i));
    auto bin = static_cast<std::size_t>((start - tile.start_ns) >> shift);
    if (end <= start) {
      sums.add(bin, 0, color);
      continue;
    }
    const auto last = static_cast<std::size_t>((end - 1 - tile.start_ns) >> shift);
    TimeNs from = start;
    for (; bin < last; ++bin) {
      const TimeNs to = tile.start_ns + static_cast<TimeNs>((bin + 1) << shift);
      sums.add(bin, static_cast<float>(to - from), color);
      from = to;
    }
    sums.add(bin, static_cast<float>(end - from), color);
  }
}

// Four bins of the tile below make one.
void Builder::merge(Sums& into, std::size_t first_bin, const Sums& below) {
  for (std::size_t bin = 0; bin < kQuarterBins; ++bin) {
    const Merged four(below, 4 * bin, 4);
    into.covered[first_bin + bin] = four.covered;
    into.longest[first_bin + bin] = four.longest;
    into.color[first_bin + bin] = four.color;
  }
}

// At least 1 where anything is.
std::uint8_t coverageOf(float covered, float longest, float scale) {
  const float share = std::min(255.0F, covered * scale + 0.5F);
  return longest < 0 ? std::uint8_t{0} : static_cast<std::uint8_t>(std::max(1.0F, share));
}

void Builder::finish(Tile& tile, const Sums& sums, int level) {
  const float scale = 255.0F / static_cast<float>(TilePyramid::binNs(level));
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    tile.coverage[bin] = coverageOf(sums.covered[bin], sums.longest[bin], scale);
    tile.color[bin] = sums.color[bin];
  }
  for (std::size_t pair = 0; pair < kPairs; ++pair) {
    const Merged two(sums, 2 * pair, 2);
    tile.pair_coverage[pair] = coverageOf(two.covered, two.longest, scale / 2);
    tile.pair_color[pair] = two.color;
  }
}

}  // namespace

TilePyramid::TilePyramid(const Lane& lane) {
  if (lane.size() <= kEventsPerTile || lane.size() > std::numeric_limits<std::uint32_t>::max()) return;
  const TimeNs first = lane.startNs(0);
  const TimeNs last = std::max(first, lane.endNs(lane.size() - 1) - 1);
  int shift = kBinBits;
  for (; shift < 62 && (last >> shift) - (first >> shift) > 1; shift += kLevelBits) ++level_;
  Builder builder(lane);
  roots_ = static_cast<std::uint32_t>((last >> shift) - (first >> shift) + 1);
  builder.tiles.resize(roots_);
  std::size_t at = 0;
  for (std::uint32_t root = 0; root < roots_; ++root) {
    builder.tiles[root].start_ns = ((first >> shift) + root) << shift;
    const std::size_t end =
        root + 1 < roots_ ? lane.firstAt(((first >> shift) + root + 1) << shift) : lane.size();
    builder.fill(root, level_, at, end);
    at = end;
  }
  builder.tiles.shrink_to_fit();
  tiles_ = Column<Tile>(std::move(builder.tiles));
}

}  // namespace pitwall::gui
