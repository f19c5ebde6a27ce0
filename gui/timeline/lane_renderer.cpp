#include "gui/timeline/lane_renderer.h"

#include <algorithm>
#include <cmath>

namespace pitwall::gui {

LaneRenderer::LaneRenderer(const Palette& palette) : background_(palette.background) {
  shades_.reserve(static_cast<std::size_t>(kColors * kShades));
  for (const std::uint32_t color : palette.color) {
    for (int shade = 0; shade < kShades; ++shade)
      shades_.push_back(blend(palette.background, color, 64 + 191 * shade / (kShades - 1)));
  }
}

void LaneRenderer::draw(const Lane& lane, const TilePyramid& pyramid, const View& view,
                        std::span<std::uint32_t> row) {
  lane_ = &lane;
  pyramid_ = &pyramid;
  view_ = view;
  pixels_.assign(row.size(), Pixel{0, -1, 0});
  if (pyramid.empty()) {
    drawEvents(static_cast<TimeNs>(std::floor(view.start_ns)), static_cast<TimeNs>(std::ceil(view.endNs())));
  } else {
    drawTile(pyramid.root());
  }
  for (std::size_t x = 0; x < row.size(); ++x) {
    const Pixel& pixel = pixels_[x];
    if (pixel.longest < 0) {
      row[x] = background_;
      continue;
    }
    const int shade = std::min(kShades - 1, static_cast<int>(pixel.covered * (kShades - 1) + 0.5F));
    row[x] = shades_[static_cast<std::size_t>(pixel.color) * kShades + static_cast<std::size_t>(shade)];
  }
}

void LaneRenderer::drawTile(const TilePyramid::Tile& tile) {
  const double bin_px = static_cast<double>(tile.bin_ns) / view_.ns_per_px;
  const double tile_px = view_.xOf(static_cast<double>(tile.start_ns));
  const double last_bin = (static_cast<double>(view_.width_px) - tile_px) / bin_px;
  if (last_bin < 0 || tile_px + bin_px * TilePyramid::kBins < 0) return;
  const auto from = static_cast<std::size_t>(std::clamp(-tile_px / bin_px, 0.0, double{TilePyramid::kBins}));
  const auto to = static_cast<std::size_t>(std::clamp(last_bin + 1, 0.0, double{TilePyramid::kBins}));
  std::size_t rank = 0;
  for (std::size_t bin = 0; bin < from; ++bin) rank += tile.has_child.test(bin);
  for (std::size_t bin = from; bin < to; ++bin) {
    const bool has_child = tile.has_child.test(bin);
    if (tile.coverage[bin] != 0) {
      const double at = tile_px + static_cast<double>(bin) * bin_px;
      if (bin_px <= 1) {
        drawBin(tile, bin, at, at + bin_px);
      } else if (has_child) {
        drawTile(pyramid_->child(tile, rank));
      } else {
        const TimeNs start = tile.start_ns + static_cast<TimeNs>(bin) * tile.bin_ns;
        drawEvents(start, start + tile.bin_ns);
      }
    }
    rank += has_child;
  }
}

void LaneRenderer::drawBin(const TilePyramid::Tile& tile, std::size_t bin, double from_px, double to_px) {
  add(from_px, to_px, tile.coverage[bin] / 255.0, tile.color[bin]);
}

void LaneRenderer::drawEvents(TimeNs from, TimeNs to) {
  for (std::size_t i = lane_->firstReaching(from); i < lane_->size() && lane_->startNs(i) < to; ++i) {
    const TimeNs start = std::max(lane_->startNs(i), from), end = std::min(lane_->endNs(i), to);
    add(view_.xOf(static_cast<double>(start)), view_.xOf(static_cast<double>(end)), 1, lane_->color(i));
  }
}

void LaneRenderer::add(double from_px, double to_px, double share, ColorIndex color) {
  if (to_px < 0 || from_px >= view_.width_px) return;
  const double first = std::max(0.0, from_px);
  const double last = std::min(static_cast<double>(view_.width_px), to_px);
  auto x = static_cast<std::size_t>(first);
  if (x >= pixels_.size()) return;
  double at = first;
  do {
    const double next = std::min(last, static_cast<double>(x + 1));
    const auto piece = static_cast<float>(std::max(0.0, next - at) * share);
    Pixel& pixel = pixels_[x];
    pixel.covered += piece;
    if (piece > pixel.longest) {
      pixel.longest = piece;
      pixel.color = color;
    }
    at = next;
    ++x;
  } while (static_cast<double>(x) < last && x < pixels_.size());
}

}  // namespace pitwall::gui
