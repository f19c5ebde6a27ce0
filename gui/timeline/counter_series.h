// Samples of one counter with the least and greatest of every 16, of every 256 and so on, so that a frame
// reads a few numbers per pixel, independent of the number of samples.
#pragma once

#include <cstddef>
#include <vector>

#include "db/event.h"

namespace pitwall::gui {

struct CounterRange {
  double least = 0, greatest = 0;
  bool empty = true;
};

class CounterSeries {
 public:
  CounterSeries() = default;
  // Samples ordered by time. Those that are no numbers are left out.
  explicit CounterSeries(const std::vector<CounterSample>& samples);

  std::size_t size() const { return time_.size(); }
  TimeNs timeNs(std::size_t i) const { return time_[i]; }
  double value(std::size_t i) const { return value_[i]; }
  double least() const { return least_; }
  double greatest() const { return greatest_; }

  // Index of the last sample at `time` or before; size() when there is none. A value is valid until the next
  // sample.
  std::size_t at(TimeNs time) const;
  // Of the values in effect at some moment of [from, to).
  CounterRange range(TimeNs from, TimeNs to) const;

 private:
  static constexpr std::size_t kFan = 16;
  struct Extent {
    double least, greatest;
  };

  std::vector<TimeNs> time_;
  std::vector<double> value_;
  std::vector<std::vector<Extent>> levels_;  // level 0: of 16 samples each
  double least_ = 0, greatest_ = 0;
};

}  // namespace pitwall::gui
