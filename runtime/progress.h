// Progress of a training loop: a one-line bar on a terminal, else a line every few seconds, and one line at
// the end for people and scripts.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace pitwall {

class Progress {
 public:
  // Prints the title. `total_items` of the whole run are for percentage and remaining time.
  Progress(std::string title, std::int64_t total_items, std::string unit = "images");
  ~Progress();  // ends an open line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `items` more are done, with this loss.
  void update(std::int64_t items, double loss);

  // Prints the test accuracy (0..1) after an epoch. The time since the last update() is not counted.
  void epoch(std::int64_t index, double accuracy);

  // Prints "images/s 12345.6  loss 0.3012  accuracy 0.8901".
  void finish();

  // Between updates; the first after the start or an epoch() is not counted, since it includes one-time
  // preparation. 0 when there is nothing to count.
  double itemsPerSecond() const;
  double loss() const;  // mean of the last 100 updates

 private:
  using Clock = std::chrono::steady_clock;
  void show(Clock::time_point now);
  void endLine();

  const std::int64_t total_items_;
  const std::string unit_;
  const bool terminal_;
  std::int64_t done_items_ = 0;
  std::int64_t timed_items_ = 0;
  double timed_seconds_ = 0;
  std::deque<double> losses_;
  std::optional<double> accuracy_;
  bool running_ = false;
  bool line_open_ = false;
  Clock::time_point last_update_, last_shown_;
};

}  // namespace pitwall
