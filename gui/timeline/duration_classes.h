// How many events of each name have durations of each class, a quarter of an octave wide: shows where a
// percentile is, without reading the durations.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "gui/timeline/lane.h"

namespace pitwall::gui {

// 0 and 1 ns in the first class, 2 s and more in the last.
inline constexpr std::uint32_t kDurationClasses = 128;
inline std::uint32_t durationClass(std::uint32_t dur) {
  constexpr std::uint32_t kOne = std::bit_cast<std::uint32_t>(1.0F) >> 21;
  // Signed numbers become fractions in one step.
  const auto small = static_cast<std::int32_t>(std::min<std::uint32_t>(dur | 1, INT32_MAX));
  return (std::bit_cast<std::uint32_t>(static_cast<float>(small)) >> 21) - kOne;
}

class DurationClasses {
 public:
  // Of more names each has few events; the tables would be larger than the events.
  static constexpr std::size_t kMostNames = 20'000;

  DurationClasses() = default;
  // Of no events yet; at least one and at most kMostNames names.
  explicit DurationClasses(std::size_t names) : totals_(names), counts_(names * kDurationClasses) {}
  // As they were made before.
  DurationClasses(std::vector<TimeNs> totals, std::vector<std::uint32_t> counts)
      : totals_(std::move(totals)), counts_(std::move(counts)) {}

  void add(const Lane& lane, std::size_t from, std::size_t to) { change<1>(lane, from, to); }
  // Precondition: they were added.
  void remove(const Lane& lane, std::size_t from, std::size_t to) { change<-1>(lane, from, to); }

  bool empty() const { return totals_.empty(); }
  std::size_t names() const { return totals_.size(); }
  // Where an event is counted; a name that is not known is the last one.
  std::uint32_t cellOf(std::uint32_t look, std::uint32_t dur) const {
    const auto last = static_cast<std::int32_t>(names() - 1);
    const auto name = std::min(static_cast<std::int32_t>(Lane::nameOf(look)), last);
    return static_cast<std::uint32_t>(name) * kDurationClasses + durationClass(dur);
  }
  // Whole durations, by name; counts by cell.
  const std::vector<TimeNs>& totals() const { return totals_; }
  const std::vector<std::uint32_t>& counts() const { return counts_; }

 private:
  template <int kSign>
  void change(const Lane& lane, std::size_t from, std::size_t to);

  std::vector<TimeNs> totals_;
  std::vector<std::uint32_t> counts_;
};

}  // namespace pitwall::gui
