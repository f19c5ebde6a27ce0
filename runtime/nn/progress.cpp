#include "runtime/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace pitwall {
namespace {

constexpr std::chrono::milliseconds kTerminalInterval(100);
constexpr std::chrono::seconds kPlainInterval(3);
constexpr int kBarWidth = 24;

std::string durationText(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds + 0.5);
  return whole >= 3600 ? fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
                       : fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

Progress::Progress(std::int64_t total_items, std::string unit)
    : total_items_(std::max<std::int64_t>(total_items, 1)),
      unit_(std::move(unit)),
      terminal_(isatty(STDOUT_FILENO) == 1),
      last_shown_(Clock::now()) {}

Progress::~Progress() { pause(); }

void Progress::update(std::int64_t items, double loss, const std::string& label) {
  const Clock::time_point now = Clock::now();
  done_items_ += items;
  loss_sum_ += loss;
  ++losses_;
  if (running_) {
    timed_items_ += items;
    timed_seconds_ += std::chrono::duration<double>(now - last_update_).count();
  }
  running_ = true;
  last_update_ = now;
  if (now - last_shown_ >= (terminal_ ? Clock::duration(kTerminalInterval) : Clock::duration(kPlainInterval)))
    show(now, label);
}

void Progress::show(Clock::time_point now, const std::string& label) {
  last_shown_ = now;
  shown_loss_ = lastLoss();
  loss_sum_ = 0;
  losses_ = 0;
  const double fraction = std::min(1.0, static_cast<double>(done_items_) / static_cast<double>(total_items_));
  const double rate = itemsPerSecond();
  const double left = rate > 0 ? static_cast<double>(total_items_ - done_items_) / rate : 0;
  const std::string text =
      fmt::format("{}{:3.0f} %  {:.0f} {}/s  loss {:.4f}  {} left", label.empty() ? "" : label + "  ",
                  100 * fraction, rate, unit_, shown_loss_, durationText(std::max(left, 0.0)));
  if (!terminal_) {
    fmt::print("{}\n", text);
  } else {
    const int filled = static_cast<int>(fraction * kBarWidth);
    fmt::print("\r\x1b[K[{}{}] {}", std::string(static_cast<std::size_t>(filled), '#'),
               std::string(static_cast<std::size_t>(kBarWidth - filled), '.'), text);
    line_open_ = true;
  }
  std::fflush(stdout);
}

void Progress::pause() {
  running_ = false;
  if (!line_open_) return;
  fmt::print("\n");
  line_open_ = false;
}

double Progress::itemsPerSecond() const {
  return timed_seconds_ > 0 ? static_cast<double>(timed_items_) / timed_seconds_ : 0;
}

double Progress::lastLoss() const {
  return losses_ > 0 ? loss_sum_ / static_cast<double>(losses_) : shown_loss_;
}

}  // namespace pitwall
