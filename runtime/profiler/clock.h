// The recorder's clock and its way to nanoseconds.
//
// A ClockMap holds pairs (ticks, CLOCK_MONOTONIC) and interpolates between neighbours: a frequency that
// drifts, or a virtual machine that moves, bends the line at the next pair instead of shifting all that came
// before. Conversion is monotone.
#pragma once

#include <vector>

#include "db/units.h"
#include "runtime/profiler.h"

namespace pitwall::profiler {

struct ClockPair {
  Ticks ticks = 0;
  TimeNs monotonic_ns = 0;
};

// Both clocks at the same moment, to some tens of ns.
ClockPair sampleClocks();

class ClockMap {
 public:
  // Time 0 of the trace is `start`.
  explicit ClockMap(ClockPair start) : start_(start), pairs_{start} {}

  // A later pair; ignored when it is not later.
  void add(ClockPair pair);

  // Ns since the start. Ticks before the start give 0, ticks after the last pair are extrapolated.
  TimeNs toNs(Ticks ticks) const;

  Ticks startTicks() const { return start_.ticks; }
  TimeNs endNs() const { return pairs_.back().monotonic_ns - start_.monotonic_ns; }
  std::size_t size() const { return pairs_.size(); }

 private:
  TimeNs between(const ClockPair& from, const ClockPair& to, Ticks ticks) const;
  static constexpr std::size_t kMostPairs = 8192;  // then every other old pair is forgotten

  ClockPair start_;
  std::vector<ClockPair> pairs_;
};

}  // namespace pitwall::profiler
