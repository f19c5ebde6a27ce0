#include "gui/timeline/lane_canvas.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace pitwall::gui {

void LaneCanvas::setPalette(const Palette& palette) {
  palette_ = &palette;
  renderer_ = LaneRenderer(palette);
  empty_.assign(static_cast<std::size_t>(width_), renderer_.background());
  drawn_ = false;
}

void LaneCanvas::setLanes(std::vector<CanvasLane> lanes) {
  lanes_ = std::move(lanes);
  drawn_ = false;
}

void LaneCanvas::resize(int width, int height) {
  if (width == width_ && height == height_) return;
  width_ = std::max(0, width);
  height_ = std::max(0, height);
  pixels_.assign(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_),
                 renderer_.background());
  empty_.assign(static_cast<std::size_t>(width_), renderer_.background());
  drawn_ = false;
}

void LaneCanvas::show(double ns_per_px, std::int64_t first, std::int64_t top) {
  if (width_ == 0 || height_ == 0) return;
  const std::int64_t right = first - first_, down = top - top_;
  const bool keeps =
      drawn_ && ns_per_px == ns_per_px_ && std::abs(right) < width_ && std::abs(down) < height_;
  ns_per_px_ = ns_per_px;
  first_ = first;
  top_ = top;
  drawn_ = true;
  if (!keeps) return draw(first, first + width_, top, top + height_);
  // The columns that came into view whole, then the lines without them.
  std::int64_t kept_from = first, kept_to = first + width_;
  if (right > 0) draw(kept_to -= right, first + width_, top, top + height_);
  if (right < 0) draw(first, kept_from -= right, top, top + height_);
  if (down > 0) draw(kept_from, kept_to, top + height_ - down, top + height_);
  if (down < 0) draw(kept_from, kept_to, top, top - down);
}

void LaneCanvas::draw(std::int64_t from, std::int64_t to, std::int64_t top, std::int64_t bottom) {
  renderer_.setPixels({ns_per_px_, from, static_cast<int>(to - from)});
  auto lane = std::partition_point(lanes_.begin(), lanes_.end(),
                                   [&](const CanvasLane& l) { return l.y + l.height <= top; });
  std::int64_t y = top;
  for (; lane != lanes_.end() && lane->y < bottom; ++lane) {
    for (; y < lane->y; ++y) clearLine(from, to, y);
    const std::int64_t end = std::min(bottom, lane->y + lane->height);
    if (y >= end) continue;
    if (lane->counter != nullptr) {
      if (lane->memory != nullptr)
        drawMemory(*lane, from, to, y, end);
      else
        drawCounter(*lane, from, to, y, end);
      y = end;
      continue;
    }
    const auto line = renderer_.draw(*lane->lane, *lane->pyramid);
    for (; y < end; ++y) copyLine(line, from, y);
  }
  for (; y < bottom; ++y) clearLine(from, to, y);
}

CounterRange LaneCanvas::inPixel(const CounterSeries& counter, std::int64_t x) const {
  const double begin = static_cast<double>(x) * ns_per_px_;
  return counter.range(static_cast<TimeNs>(std::floor(begin)),
                       static_cast<TimeNs>(std::ceil(begin + ns_per_px_)));
}

void LaneCanvas::drawCounter(const CanvasLane& lane, std::int64_t from, std::int64_t to, std::int64_t y,
                             std::int64_t end) {
  const CounterSeries& counter = *lane.counter;
  const double floor = std::min(0.0, counter.least());
  const double scale = (lane.height - 2) / std::max(1e-300, counter.greatest() - floor);
  struct Bar {
    int low, high;  // lines above the bottom; high < 0: nothing
  };
  std::vector<Bar> bars;
  for (std::int64_t x = from; x < to; ++x) {
    const CounterRange range = inPixel(counter, x);
    if (range.empty) {
      bars.push_back({0, -1});
      continue;
    }
    const int high = static_cast<int>(std::lround((range.greatest - floor) * scale));
    bars.push_back({std::min(static_cast<int>(std::lround((range.least - floor) * scale)), high - 1), high});
  }
  line_.resize(bars.size());
  for (; y < end; ++y) {
    const auto level = static_cast<int>(lane.y + lane.height - 1 - y);
    for (std::size_t i = 0; i < bars.size(); ++i) {
      line_[i] = level > bars[i].high || bars[i].high < 0 ? palette_->background
                 : level > bars[i].low                    ? palette_->counter_edge
                                                          : palette_->counter;
    }
    copyLine(line_, from, y);
  }
}

void LaneCanvas::drawMemory(const CanvasLane& lane, std::int64_t from, std::int64_t to, std::int64_t y,
                            std::int64_t end) {
  const auto columns = static_cast<std::size_t>(to - from);
  const double scale = (lane.height - 2) / std::max(1e-300, lane.counter->greatest());
  std::vector<int> tops;  // of each layer, by column: lines above the bottom; -1: nothing
  for (const MemoryLayer& layer : *lane.memory) {
    for (std::int64_t x = from; x < to; ++x) {
      const CounterRange range = inPixel(layer.top, x);
      tops.push_back(
          range.empty || range.greatest <= 0 ? -1 : static_cast<int>(std::lround(range.greatest * scale)));
    }
  }
  line_.resize(columns);
  for (; y < end; ++y) {
    const auto level = static_cast<int>(lane.y + lane.height - 1 - y);
    std::fill(line_.begin(), line_.end(), palette_->background);
    for (std::size_t layer = lane.memory->size(); layer-- > 0;) {
      const std::uint32_t color = palette_->color[memoryColor(layer)];
      for (std::size_t i = 0; i < columns; ++i) {
        if (level <= tops[layer * columns + i]) line_[i] = color;
      }
    }
    copyLine(line_, from, y);
  }
}

void LaneCanvas::copyLine(std::span<const std::uint32_t> line, std::int64_t from, std::int64_t y) {
  std::uint32_t* row =
      pixels_.data() + static_cast<std::size_t>(wrapped(y, height_)) * static_cast<std::size_t>(width_);
  const auto column = static_cast<std::size_t>(wrapped(from, width_));
  const std::size_t before_edge = std::min(line.size(), static_cast<std::size_t>(width_) - column);
  std::memcpy(row + column, line.data(), before_edge * sizeof(*row));
  std::memcpy(row, line.data() + before_edge, (line.size() - before_edge) * sizeof(*row));
}

void LaneCanvas::clearLine(std::int64_t from, std::int64_t to, std::int64_t y) {
  copyLine(std::span(empty_).first(static_cast<std::size_t>(to - from)), from, y);
}

std::uint32_t LaneCanvas::at(int x, int y) const {
  const auto row = static_cast<std::size_t>(wrapped(top_ + y, height_));
  return pixels_[row * static_cast<std::size_t>(width_) +
                 static_cast<std::size_t>(wrapped(first_ + x, width_))];
}

}  // namespace pitwall::gui
