#include "gui/timeline/lane_canvas.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace pitwall::gui {

void LaneCanvas::setPalette(const Palette& palette) {
  palette_ = &palette;
  renderer_ = LaneRenderer(palette);
  drawn_ = false;
}

void LaneCanvas::setLanes(std::vector<CanvasLane> lanes) {
  lanes_ = std::move(lanes);
  first_lines_.clear();
  highest_ = 1;
  std::int64_t line = 0;
  for (const CanvasLane& lane : lanes_) {
    first_lines_.push_back(line);
    line += linesOf(lane);
    highest_ = std::max(highest_, linesOf(lane));
  }
  drawn_ = false;
}

void LaneCanvas::resize(int width, int height) {
  if (width == width_ && height == height_) return;
  width_ = std::max(0, width);
  height_ = std::max(0, height);
  drawn_ = false;
}

void LaneCanvas::show(double ns_per_px, std::int64_t first, std::int64_t top) {
  if (width_ == 0 || height_ == 0) return;
  const auto lane_at = [&](std::int64_t y) {
    return static_cast<std::size_t>(
        std::partition_point(lanes_.begin(), lanes_.end(),
                             [&](const CanvasLane& l) { return l.y + l.height <= y; }) -
        lanes_.begin());
  };
  const std::size_t begin = lane_at(top);
  std::size_t end = begin;
  while (end < lanes_.size() && lanes_[end].y < top + height_) ++end;
  const std::int64_t right = first - first_;
  const std::size_t kept = std::max(begin, begin_), kept_end = std::min(end, end_);
  const bool keeps = drawn_ && ns_per_px == ns_per_px_ && std::abs(right) < width_ && kept < kept_end;
  if (!drawn_) {
    // The first and the last lane in sight may be counters that are partly above and below.
    rows_ = height_ + 2 * highest_;
    pixels_.resize(static_cast<std::size_t>(width_) * static_cast<std::size_t>(rows_));
  }
  ns_per_px_ = ns_per_px;
  first_ = first;
  top_ = top;
  begin_ = begin;
  end_ = end;
  drawn_ = true;
  if (!keeps) return draw(first, first + width_, begin, end);
  if (right > 0) draw(first + width_ - right, first + width_, kept, kept_end);
  if (right < 0) draw(first, first - right, kept, kept_end);
  draw(first, first + width_, begin, kept);
  draw(first, first + width_, kept_end, end);
}

void LaneCanvas::draw(std::int64_t from, std::int64_t to, std::size_t begin, std::size_t end) {
  if (begin == end) return;
  renderer_.setPixels({ns_per_px_, from, static_cast<int>(to - from)});
  for (std::size_t i = begin; i < end; ++i) {
    const CanvasLane& lane = lanes_[i];
    if (lane.memory != nullptr) {
      drawMemory(lane, from, to, first_lines_[i]);
    } else if (lane.counter != nullptr) {
      drawCounter(lane, from, to, first_lines_[i]);
    } else {
      keepLine(renderer_.draw(*lane.lane, *lane.pyramid), from, first_lines_[i]);
    }
  }
}

std::vector<LaneCanvas::Part> LaneCanvas::parts() const {
  std::vector<Part> parts;
  parts.reserve(2 * (end_ - begin_) + 2);
  int y = 0;
  const auto add = [&](std::int64_t to, const std::uint32_t* pixels, int lines) {
    const int height = static_cast<int>(std::min<std::int64_t>(to, height_)) - y;
    if (height <= 0) return;
    parts.push_back({y, height, pixels, std::min(lines, height)});
    y += height;
  };
  for (std::size_t i = begin_; i < end_; ++i) {
    const CanvasLane& lane = lanes_[i];
    const std::int64_t lane_top = lane.y - top_, bottom = lane_top + lane.height;
    add(lane_top, nullptr, 0);
    if (lane.counter == nullptr) {
      add(bottom, row(first_lines_[i]), 1);
      continue;
    }
    // In two where the torus ends between the lines of it.
    const std::int64_t line = first_lines_[i] + (y - lane_top);
    const int before_end = rows_ - wrapped(line, rows_);
    const std::int64_t cut = y + before_end;
    if (cut < bottom) add(cut, row(line), before_end);
    const std::int64_t rest = first_lines_[i] + (y - lane_top);
    add(bottom, row(rest), static_cast<int>(bottom - y));
  }
  add(height_, nullptr, 0);
  return parts;
}

CounterRange LaneCanvas::inPixel(const CounterSeries& counter, std::int64_t x) const {
  const double begin = static_cast<double>(x) * ns_per_px_;
  return counter.range(static_cast<TimeNs>(std::floor(begin)),
                       static_cast<TimeNs>(std::ceil(begin + ns_per_px_)));
}

void LaneCanvas::drawCounter(const CanvasLane& lane, std::int64_t from, std::int64_t to, std::int64_t line) {
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
  for (int level = lane.height - 1; level >= 0; --level) {
    for (std::size_t i = 0; i < bars.size(); ++i) {
      line_[i] = level > bars[i].high || bars[i].high < 0 ? palette_->background
                 : level > bars[i].low                    ? palette_->counter_edge
                                                          : palette_->counter;
    }
    keepLine(line_, from, line++);
  }
}

void LaneCanvas::drawMemory(const CanvasLane& lane, std::int64_t from, std::int64_t to, std::int64_t line) {
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
  for (int level = lane.height - 1; level >= 0; --level) {
    std::fill(line_.begin(), line_.end(), palette_->background);
    for (std::size_t layer = lane.memory->size(); layer-- > 0;) {
      const std::uint32_t color = palette_->color[memoryColor(layer)];
      for (std::size_t i = 0; i < columns; ++i) {
        if (level <= tops[layer * columns + i]) line_[i] = color;
      }
    }
    keepLine(line_, from, line++);
  }
}

std::uint32_t* LaneCanvas::row(std::int64_t line) {
  return pixels_.data() + static_cast<std::size_t>(wrapped(line, rows_)) * static_cast<std::size_t>(width_);
}

const std::uint32_t* LaneCanvas::row(std::int64_t line) const {
  return pixels_.data() + static_cast<std::size_t>(wrapped(line, rows_)) * static_cast<std::size_t>(width_);
}

void LaneCanvas::keepLine(std::span<const std::uint32_t> pixels, std::int64_t from, std::int64_t line) {
  std::uint32_t* const to = row(line);
  const auto column = static_cast<std::size_t>(wrapped(from, width_));
  const std::size_t before_edge = std::min(pixels.size(), static_cast<std::size_t>(width_) - column);
  std::memcpy(to + column, pixels.data(), before_edge * sizeof(*to));
  std::memcpy(to, pixels.data() + before_edge, (pixels.size() - before_edge) * sizeof(*to));
}

std::uint32_t LaneCanvas::at(int x, int y) const {
  for (const Part& part : parts()) {
    if (y < part.y || y >= part.y + part.height) continue;
    if (part.lines == 0) return background();
    const auto line = static_cast<std::size_t>(part.lines > 1 ? y - part.y : 0);
    return part.pixels[line * static_cast<std::size_t>(width_) +
                       static_cast<std::size_t>(wrapped(first_ + x, width_))];
  }
  return background();
}

}  // namespace pitwall::gui
