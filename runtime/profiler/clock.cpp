#include "runtime/profiler/clock.h"

#include <time.h>

#include <algorithm>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace pitwall::profiler {

bool tscIsInvariant() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kPowerLeaf = 0x80000007U;
  constexpr unsigned kInvariantBit = 1U << 8U;
  return __get_cpuid(kPowerLeaf, &a, &b, &c, &d) != 0 && (d & kInvariantBit) != 0;
#else
  return false;
#endif
}

Ticks monotonicNs() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<Ticks>(t.tv_sec) * 1'000'000'000U + static_cast<Ticks>(t.tv_nsec);
}

ClockPair sampleClocks() {
  if (!clock_is_tsc) {
    const Ticks now = monotonicNs();
    return {now, static_cast<TimeNs>(now)};
  }
  // The tightest of a few tries: an interrupt between the two readings would show as a wide one.
  ClockPair best;
  Ticks best_width = ~Ticks{0};
  for (int i = 0; i < 5; ++i) {
    const Ticks before = Profiler::now();
    const Ticks ns = monotonicNs();
    const Ticks after = Profiler::now();
    if (after - before < best_width) {
      best_width = after - before;
      best = {before + (after - before) / 2, static_cast<TimeNs>(ns)};
    }
  }
  return best;
}

void ClockMap::add(ClockPair pair) {
  const ClockPair& last = pairs_.back();
  if (pair.ticks <= last.ticks || pair.monotonic_ns <= last.monotonic_ns) return;
  if (pairs_.size() == kMostPairs) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < kMostPairs; ++i) {
      if (i % 2 == 0 || i > kMostPairs - 16) pairs_[kept++] = pairs_[i];
    }
    pairs_.resize(kept);
  }
  pairs_.push_back(pair);
}

TimeNs ClockMap::between(const ClockPair& from, const ClockPair& to, Ticks ticks) const {
  const double slope =
      static_cast<double>(to.monotonic_ns - from.monotonic_ns) / static_cast<double>(to.ticks - from.ticks);
  const TimeNs ahead = static_cast<TimeNs>(static_cast<double>(ticks - from.ticks) * slope);
  return from.monotonic_ns - start_.monotonic_ns + ahead;
}

TimeNs ClockMap::toNs(Ticks ticks) const {
  if (ticks <= start_.ticks) return 0;
  if (pairs_.size() == 1) {
    // Nothing to measure a TSC's speed by yet; the caller adds a pair before it converts.
    return clock_is_tsc ? 0 : static_cast<TimeNs>(ticks - start_.ticks);
  }
  const std::size_t last = pairs_.size() - 1;
  if (ticks >= pairs_[last - 1].ticks) {
    const TimeNs ns = between(pairs_[last - 1], pairs_[last], ticks);
    return ticks <= pairs_[last].ticks ? std::min(ns, endNs()) : std::max(ns, endNs());
  }
  const auto after = std::upper_bound(pairs_.begin(), pairs_.end(), ticks,
                                      [](Ticks t, const ClockPair& pair) { return t < pair.ticks; });
  const TimeNs ns = between(*(after - 1), *after, ticks);
  return std::min(ns, after->monotonic_ns - start_.monotonic_ns);
}

}  // namespace pitwall::profiler
