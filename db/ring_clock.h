// Converts the recorder's ticks to nanoseconds of the trace.
//
// A ClockMap holds pairs (ticks, CLOCK_MONOTONIC) and interpolates between neighbours: when the frequency
// drifts, or a virtual machine migrates, only times after the last pair are affected, not earlier ones.
// Conversion is monotonic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "db/ring_format.h"
#include "db/units.h"

namespace pitwall::ring {

class ClockMap {
 public:
  // Time 0 of the trace is `start`.
  explicit ClockMap(ClockPair start, bool ticks_are_ns = false)
      : start_(start), ticks_are_ns_(ticks_are_ns), pairs_{start} {}

  // A later pair; ignored when it is not later on both clocks (a counter that went back), or by more than 73 years.
  void add(ClockPair pair);

  // Ns since the start. Ticks before the start give 0, ticks after the last pair are extrapolated.
  TimeNs toNs(std::uint64_t ticks) const;

  std::uint64_t startTicks() const { return start_.ticks; }
  TimeNs endNs() const { return sinceStart(pairs_.back()); }
  std::size_t size() const { return pairs_.size(); }
  const ClockPair& latest() const { return pairs_.back(); }

 private:
  TimeNs between(const ClockPair& from, const ClockPair& to, std::uint64_t ticks) const;
  TimeNs sinceStart(const ClockPair& pair) const { return pair.monotonic_ns - start_.monotonic_ns; }
  static constexpr std::size_t kMostPairs = 8192;  // then every other old pair is dropped

  ClockPair start_;
  bool ticks_are_ns_;
  std::vector<ClockPair> pairs_;
};

}  // namespace pitwall::ring
