#include "gui/timeline/counter_series.h"

#include <algorithm>
#include <cmath>

namespace pitwall::gui {

CounterSeries::CounterSeries(const std::vector<CounterSample>& samples) {
  for (const CounterSample& sample : samples) {
    if (!std::isfinite(sample.value)) continue;
    time_.push_back(sample.time_ns);
    value_.push_back(sample.value);
  }
  if (value_.empty()) return;
  const auto [least, greatest] = std::minmax_element(value_.begin(), value_.end());
  least_ = *least;
  greatest_ = *greatest;

  std::vector<Extent> below;
  below.reserve(value_.size());
  for (const double v : value_) below.push_back({v, v});
  while (below.size() > kFan) {
    std::vector<Extent> level((below.size() + kFan - 1) / kFan, Extent{INFINITY, -INFINITY});
    for (std::size_t i = 0; i < below.size(); ++i) {
      level[i / kFan].least = std::min(level[i / kFan].least, below[i].least);
      level[i / kFan].greatest = std::max(level[i / kFan].greatest, below[i].greatest);
    }
    levels_.push_back(level);
    below = std::move(level);
  }
}

std::size_t CounterSeries::at(TimeNs time) const {
  const auto next = std::upper_bound(time_.begin(), time_.end(), time);
  return next == time_.begin() ? size() : static_cast<std::size_t>(next - time_.begin()) - 1;
}

CounterRange CounterSeries::range(TimeNs from, TimeNs to) const {
  const auto end = static_cast<std::size_t>(std::lower_bound(time_.begin(), time_.end(), to) - time_.begin());
  std::size_t i = at(from);
  if (i == size()) i = 0;  // nothing before: from the first sample on
  CounterRange result;
  const auto take = [&result](double least, double greatest) {
    result.least = result.empty ? least : std::min(result.least, least);
    result.greatest = result.empty ? greatest : std::max(result.greatest, greatest);
    result.empty = false;
  };
  while (i < end) {
    // The largest block that begins here and ends in time.
    std::size_t level = 0, span = 1;
    while (level < levels_.size() && i % (span * kFan) == 0 && i + span * kFan <= end) {
      span *= kFan;
      ++level;
    }
    if (level == 0) {
      take(value_[i], value_[i]);
    } else {
      const Extent& block = levels_[level - 1][i / span];
      take(block.least, block.greatest);
    }
    i += span;
  }
  return result;
}

}  // namespace pitwall::gui
