// One line on a terminal, rewritten at most ten times a second; nothing elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace pitwall::cli {

class ProgressLine {
 public:
  // `what` is done at this rate: per_second is what `done` counts, divided by `unit`, as in "MB/s" and 1e6.
  ProgressLine(const char* per_second, double unit) : per_second_(per_second), unit_(unit) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Whether standard error is a terminal; else show() draws nothing.
  static bool isWanted();
  // A new `what` restarts the clock.
  void show(const std::string& what, std::int64_t done, std::int64_t total);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  const char* per_second_;
  double unit_;
  std::string what_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point shown_;
  bool drawn_ = false;
};

}  // namespace pitwall::cli
