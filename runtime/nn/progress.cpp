#include "runtime/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <utility>

namespace pitwall {
namespace {

constexpr std::chrono::milliseconds kTerminalInterval(100);
constexpr std::chrono::milliseconds kPlainInterval(3000);
constexpr std::size_t kLossesKept = 100;
constexpr int kBarWidth = 24;

std::string durationText(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds + 0.5);
  return whole >= 3600 ? fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
                       : fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

Progress::Progress(std::string title, std::int64_t total_items, std::string unit)
    : total_items_(std::max<std::int64_t>(total_items, 1)),
      unit_(std::move(unit)),
      terminal_(isatty(STDOUT_FILENO) == 1),
      last_shown_(Clock::now()) {
  if (!title.empty()) fmt::print("{}\n", title);
  std::fflush(stdout);
}

Progress::~Progress() { endLine(); }

void Progress::update(std::int64_t items, double loss) {
  const Clock::time_point now = Clock::now();
  done_items_ += items;
  losses_.push_back(loss);
  if (losses_.size() > kLossesKept) losses_.pop_front();
  if (running_) {
    timed_items_ += items;
    timed_seconds_ += std::chrono::duration<double>(now - last_update_).count();
  }
  running_ = true;
  last_update_ = now;
  if (now - last_shown_ >= (terminal_ ? kTerminalInterval : kPlainInterval)) show(now);
}

void Progress::show(Clock::time_point now) {
  last_shown_ = now;
  const double fraction = std::min(1.0, static_cast<double>(done_items_) / static_cast<double>(total_items_));
  const double rate = itemsPerSecond();
  const double left = rate > 0 ? static_cast<double>(total_items_ - done_items_) / rate : 0;
  const std::string text = fmt::format("{:3.0f} %  {:.0f} {}/s  loss {:.4f}  {} left", 100 * fraction, rate,
                                       unit_, loss(), durationText(std::max(left, 0.0)));
  if (terminal_) {
    const auto filled = static_cast<std::size_t>(fraction * kBarWidth);
    fmt::print("\r\x1b[K[{}{}] {}", std::string(filled, '#'), std::string(kBarWidth - filled, '.'), text);
    line_open_ = true;
  } else {
    fmt::print("{}\n", text);
  }
  std::fflush(stdout);
}

void Progress::endLine() {
  if (line_open_) fmt::print("\r\x1b[K");
  line_open_ = false;
}

void Progress::epoch(std::int64_t index, double accuracy) {
  endLine();
  fmt::print("epoch {}: loss {:.4f}, test accuracy {:.4f}\n", index, loss(), accuracy);
  std::fflush(stdout);
  accuracy_ = accuracy;
  running_ = false;
}

void Progress::finish() {
  endLine();
  fmt::print("{}/s {:.1f}  loss {:.4f}  accuracy {}\n", unit_, itemsPerSecond(), loss(),
             accuracy_.has_value() ? fmt::format("{:.4f}", *accuracy_) : "not measured");
  std::fflush(stdout);
}

double Progress::itemsPerSecond() const {
  return timed_seconds_ > 0 ? static_cast<double>(timed_items_) / timed_seconds_ : 0;
}

double Progress::loss() const {
  if (losses_.empty()) return 0;
  return std::accumulate(losses_.begin(), losses_.end(), 0.0) / static_cast<double>(losses_.size());
}

}  // namespace pitwall
