#include "gui/timeline/lane_renderer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace pitwall::gui {
namespace {

constexpr int kFraction = 8;  // bits behind the point of a position
constexpr std::int64_t kPixel = std::int64_t{1} << kFraction;
// Coverage of a pixel: 255 * 256 = whole. Six bits of it choose the shade.
constexpr int kShadeShift = 10;
// A bin that is covered to less than a half goes into one pixel: a lone event stays as narrow as it is.
constexpr int kSolid = 128;
constexpr int kMostShift = 55;  // the widest bins that tiles have

// As many of double's values have no place in TimeNs.
TimeNs clampedTime(double time) {
  constexpr double kEnd = 9223372036854775808.0;
  if (time >= kEnd) return std::numeric_limits<TimeNs>::max();
  if (time < -kEnd) return std::numeric_limits<TimeNs>::min();
  return static_cast<TimeNs>(time);
}

}  // namespace

PixelRange pixelsOf(const View& view) {
  return {view.ns_per_px, std::llround(view.start_ns / view.ns_per_px), view.width_px};
}

// Collects what falls into a pixel and writes it when the next one comes: pieces come by time.
struct LaneRenderer::Pen {
  std::span<std::uint32_t> line;
  const std::uint32_t* shades;
  std::int64_t x = -1;
  std::uint32_t covered = 0;
  std::int32_t longest = -1;
  ColorIndex color = 0;

  void flush() const {
    if (longest < 0 || static_cast<std::uint64_t>(x) >= line.size()) return;
    const std::uint32_t shade = std::min<std::uint32_t>(kShades - 1, covered >> kShadeShift);
    line[static_cast<std::size_t>(x)] = shades[color * kShades + shade];
  }
  void add(std::int64_t at, std::uint32_t piece, ColorIndex piece_color) {
    if (at != x) {
      flush();
      x = at;
      covered = 0;
      longest = -1;
    }
    covered += piece;
    if (static_cast<std::int32_t>(piece) > longest) {
      longest = static_cast<std::int32_t>(piece);
      color = piece_color;
    }
  }
  void fill(std::int64_t from, std::int64_t to, ColorIndex piece_color) {
    from = std::max<std::int64_t>(from, 0);
    to = std::min<std::int64_t>(to, static_cast<std::int64_t>(line.size()));
    const std::uint32_t whole = shades[piece_color * kShades + kShades - 1];
    for (std::int64_t at = from; at < to; ++at) line[static_cast<std::size_t>(at)] = whole;
  }
};

void LaneRenderer::makeShades() {
  shades_.reserve(static_cast<std::size_t>(kColors * kShades));
  for (const std::uint32_t color : palette_.color) {
    for (int shade = 0; shade < kShades; ++shade)
      shades_.push_back(blend(palette_.background, color, 64 + 191 * shade / (kShades - 1)));
  }
}

std::int64_t LaneRenderer::fixed(double time) const {
  const double at = std::clamp(time * scale_, -9.2e18, 9.2e18);
  const auto whole = static_cast<std::int64_t>(at);
  return whole - (static_cast<double>(whole) > at ? 1 : 0);
}

void LaneRenderer::setPixels(const PixelRange& pixels) {
  if (pixels == pixels_) return;
  pixels_ = pixels;
  scale_ = static_cast<double>(kPixel) / pixels.ns_per_px;
  // A pixel more on either side, so that what rounding puts there is not missed.
  from_ns_ = clampedTime(std::floor(static_cast<double>(pixels.first - 1) * pixels.ns_per_px));
  to_ns_ = clampedTime(std::ceil(static_cast<double>(pixels.first + pixels.count + 1) * pixels.ns_per_px));
  shift_ = 0;
  while (shift_ < kMostShift && static_cast<double>(TimeNs{2} << shift_) <= pixels.ns_per_px) ++shift_;
  line_.resize(static_cast<std::size_t>(pixels.count));
  placeBins();
}

void LaneRenderer::placeBins() {
  bins_.clear();
  if (pixels_.ns_per_px < 1) return;  // bins of a nanosecond are wider than a pixel
  first_bin_ = from_ns_ >> shift_;
  const std::int64_t end_bin = (to_ns_ >> shift_) + 1;
  const auto bin_ns = static_cast<double>(TimeNs{1} << shift_);
  std::int64_t from = fixed(static_cast<double>(first_bin_) * bin_ns);
  for (std::int64_t bin = first_bin_; bin < end_bin; ++bin) {
    const std::int64_t to = fixed(static_cast<double>(bin + 1) * bin_ns);
    const std::int64_t x = from >> kFraction;
    const std::int64_t border = (x + 1) << kFraction;
    const auto here = static_cast<std::uint16_t>(std::min(to, border) - from);
    const auto next = static_cast<std::uint16_t>(std::max<std::int64_t>(0, to - border));
    const auto whole = static_cast<std::uint16_t>(here + next);
    const bool in_next = ((from + to) >> (kFraction + 1)) > x;
    bins_.push_back({.x = static_cast<std::int32_t>(x - pixels_.first),
                     .solid = {here, next},
                     .thin = in_next ? BinPlace::Weights{0, whole} : BinPlace::Weights{whole, 0}});
    from = to;
  }
}

std::span<const std::uint32_t> LaneRenderer::draw(const Lane& lane, const TilePyramid& pyramid) {
  lane_ = &lane;
  pyramid_ = &pyramid;
  if (shades_.empty()) makeShades();
  std::fill(line_.begin(), line_.end(), background());
  Pen pen{.line = line_, .shades = shades_.data()};
  if (pyramid.empty()) {
    drawEvents(lane.firstReaching(from_ns_), from_ns_, to_ns_, pen);
  } else {
    for (const TilePyramid::Tile& root : pyramid.roots()) drawTile(root, pyramid.rootLevel(), pen);
  }
  pen.flush();
  return line_;
}

void LaneRenderer::draw(const Lane& lane, const TilePyramid& pyramid, const View& view,
                        std::span<std::uint32_t> row) {
  setPixels(pixelsOf(view));
  const auto line = draw(lane, pyramid);
  std::memcpy(row.data(), line.data(), std::min(line.size(), row.size()) * sizeof(row[0]));
}

void LaneRenderer::drawTile(const TilePyramid::Tile& tile, int level, Pen& pen) {
  if (2 * level <= shift_) return drawBins(tile, level, pen);
  const TimeNs quarter_ns = TilePyramid::binNs(level) * TilePyramid::kQuarterBins;
  for (std::size_t q = 0; q < TilePyramid::kQuarters; ++q) {
    const TimeNs from = tile.start_ns + static_cast<TimeNs>(q) * quarter_ns;
    if (from >= to_ns_) return;
    if (from + (quarter_ns - 1) < from_ns_) continue;
    if (tile.child[q] != 0) {
      drawTile(pyramid_->tile(tile.child[q]), level - 1, pen);
    } else {
      drawEvents(tile.first[q], from, from + (quarter_ns - 1), pen);
    }
  }
}

// Bins of the width that fits the scale, or of a lane so short that even its root's are much narrower.
void LaneRenderer::drawBins(const TilePyramid::Tile& tile, int level, Pen& out) {
  if (bins_.empty()) return drawWideBins(tile, out);
  const bool pairs = 2 * level < shift_;
  const std::uint8_t* const coverages = pairs ? tile.pair_coverage.data() : tile.coverage.data();
  const ColorIndex* const colors = pairs ? tile.pair_color.data() : tile.color.data();
  const std::int64_t bins = pairs ? TilePyramid::kPairs : TilePyramid::kBins;
  const int shift = 2 * level + (pairs ? 1 : 0), up = shift_ - shift;
  const std::int64_t tile_bin = tile.start_ns >> shift;
  const auto known = static_cast<std::int64_t>(bins_.size());
  // Bins whose places are known, in bins of this tile.
  const std::int64_t from = std::max<std::int64_t>(0, (first_bin_ << up) - tile_bin);
  const std::int64_t to = std::min<std::int64_t>(bins, ((first_bin_ + known) << up) - tile_bin);
  if (up == 0 && from < to)
    return drawFittingBins({coverages, colors, from, to, bins_.data() + (tile_bin - first_bin_)}, out);
  Pen pen = out;  // in registers
  for (std::int64_t bin = from; bin < to; ++bin) {
    if ((bin & 7) == 0 && bin + 8 <= to) {  // nothing in eight bins
      std::uint64_t eight = 0;
      std::memcpy(&eight, coverages + bin, sizeof(eight));
      if (eight == 0) {
        bin += 7;
        continue;
      }
    }
    const std::uint32_t coverage = coverages[bin];
    if (coverage == 0) continue;
    const ColorIndex color = colors[bin];
    const BinPlace& place = bins_[static_cast<std::size_t>(((tile_bin + bin) >> up) - first_bin_)];
    const std::uint32_t whole = place.thin.here + std::uint32_t{place.thin.next};
    pen.add(place.x + (place.thin.next != 0 ? 1 : 0), coverage * whole >> up, color);
  }
  out = pen;
}

// Most of what is drawn. What is in a bin is as good as random, so that nothing here branches on it: only on
// where bins are, which is equal in all lanes.
void LaneRenderer::drawFittingBins(const Bins& bins, Pen& out) {
  // Of a pixel and the one after it: the sum of the pieces, and the longest one above its colour. Without a
  // piece that is less than a colour's 256.
  constexpr std::uint32_t kPiece = 1 << 8;
  std::uint32_t covered = 0, longest = 0, covered_next = 0, longest_next = 0;
  std::int64_t x = bins.place[bins.from].x;
  if (out.x == x && out.longest >= 0) {
    covered = out.covered;
    longest = static_cast<std::uint32_t>(out.longest) * kPiece | out.color;
  } else {
    out.flush();
  }
  std::uint32_t* const line = out.line.data();
  const std::uint32_t* const shades = out.shades;
  const auto size = static_cast<std::uint64_t>(out.line.size());
  const auto write = [&] {
    if (static_cast<std::uint64_t>(x) >= size || longest < kPiece) return;
    line[x] =
        shades[longest % kPiece * kShades + std::min<std::uint32_t>(kShades - 1, covered >> kShadeShift)];
  };
  for (std::int64_t bin = bins.from; bin < bins.to; ++bin) {
    const BinPlace& place = bins.place[bin];
    if (place.x != x) {
      write();
      covered = covered_next;
      longest = longest_next;
      covered_next = longest_next = 0;
      x = place.x;
    }
    const std::uint32_t coverage = bins.coverage[bin], color = bins.color[bin];
    const BinPlace::Weights weights = coverage < kSolid ? place.thin : place.solid;
    const std::uint32_t piece = coverage * weights.here, piece_next = coverage * weights.next;
    covered += piece;
    covered_next += piece_next;
    longest = std::max(longest, piece * kPiece | color);
    longest_next = std::max(longest_next, piece_next * kPiece | color);
  }
  if (longest_next >= kPiece) {
    write();
    ++x;
    covered = covered_next;
    longest = longest_next;
  }
  out.x = x;
  out.covered = covered;
  out.longest = longest >= kPiece ? static_cast<std::int32_t>(longest / kPiece) : -1;
  out.color = static_cast<ColorIndex>(longest % kPiece);
}

// Magnified bins of a nanosecond: each is covered completely, or contains only instants.
void LaneRenderer::drawWideBins(const TilePyramid::Tile& tile, Pen& pen) {
  for (std::size_t bin = 0; bin < TilePyramid::kBins; ++bin) {
    const TimeNs start = tile.start_ns + static_cast<TimeNs>(bin);
    if (tile.coverage[bin] == 0 || start + 1 < from_ns_ || start >= to_ns_) continue;
    const std::int64_t from = at(start);
    drawPiece(from, tile.coverage[bin] < kSolid ? from : at(start + 1), tile.color[bin], pen);
  }
}

// What of the events is in [from, last].
void LaneRenderer::drawEvents(std::size_t first, TimeNs from, TimeNs last, Pen& out) {
  Pen pen = out;
  const auto starts = lane_->columns().start.values();
  const TimeNs end = std::min(last, to_ns_), begin = std::max(from, from_ns_);
  if (begin > from) first = std::max(first, lane_->firstReaching(begin));
  for (std::size_t i = first; i < starts.size() && starts[i] <= end; ++i) {
    const TimeNs start = starts[i], stop = start + lane_->durNs(i);
    if (stop < begin) continue;
    drawPiece(at(std::max(start, from)), stop > last ? at(last + 1) : at(stop), lane_->color(i), pen);
  }
  out = pen;
}

void LaneRenderer::drawPiece(std::int64_t from, std::int64_t to, ColorIndex color, Pen& pen) {
  const std::int64_t x = (from >> kFraction) - pixels_.first;
  const std::int64_t last = (std::max(from, to - 1) >> kFraction) - pixels_.first;
  if (last == x)
    return pen.add(x, static_cast<std::uint32_t>(std::max<std::int64_t>(0, to - from)) * 255, color);
  const std::int64_t border = (from | (kPixel - 1)) + 1;
  pen.add(x, static_cast<std::uint32_t>(border - from) * 255, color);
  pen.fill(x + 1, last, color);
  pen.add(last, static_cast<std::uint32_t>(to - ((to - 1) & ~(kPixel - 1))) * 255, color);
}

}  // namespace pitwall::gui
