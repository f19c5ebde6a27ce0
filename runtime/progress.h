// Progress of a training loop: a bar of one line on a terminal, else a plain line every few seconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace pitwall {

class Progress {
 public:
  // `total_items` of the whole run, for percentage and remaining time.
  explicit Progress(std::int64_t total_items, std::string unit = "images");
  ~Progress();  // ends the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `items` more are done; the mean of the losses since the last line is shown.
  void update(std::int64_t items, double loss, const std::string& label = "");

  // Ends the line, so that the program can print, and stops the clock until the next update().
  void pause();

  // Over all updates but each first one after the start or a pause, which pays for what is prepared once.
  double itemsPerSecond() const;
  double lastLoss() const;  // the mean since the last line, else the one shown there

 private:
  using Clock = std::chrono::steady_clock;
  void show(Clock::time_point now, const std::string& label);

  const std::int64_t total_items_;
  const std::string unit_;
  const bool terminal_;
  std::int64_t done_items_ = 0;
  std::int64_t timed_items_ = 0;
  double timed_seconds_ = 0;
  double loss_sum_ = 0;
  std::int64_t losses_ = 0;
  double shown_loss_ = 0;
  bool running_ = false;
  bool line_open_ = false;
  Clock::time_point last_update_, last_shown_;
};

}  // namespace pitwall
