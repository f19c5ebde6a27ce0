#include "db/ring_clock.h"

#include <algorithm>

namespace pitwall::ring {

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

TimeNs ClockMap::between(const ClockPair& from, const ClockPair& to, std::uint64_t ticks) const {
  const double slope =
      static_cast<double>(to.monotonic_ns - from.monotonic_ns) / static_cast<double>(to.ticks - from.ticks);
  const TimeNs ahead = static_cast<TimeNs>(static_cast<double>(ticks - from.ticks) * slope);
  return from.monotonic_ns - start_.monotonic_ns + ahead;
}

TimeNs ClockMap::toNs(std::uint64_t ticks) const {
  if (ticks <= start_.ticks) return 0;
  if (pairs_.size() == 1) {
    // There is no second pair yet to measure the TSC's frequency; the caller adds one before it converts.
    return ticks_are_ns_ ? static_cast<TimeNs>(ticks - start_.ticks) : 0;
  }
  const std::size_t last = pairs_.size() - 1;
  if (ticks >= pairs_[last - 1].ticks) {
    const TimeNs ns = between(pairs_[last - 1], pairs_[last], ticks);
    return ticks <= pairs_[last].ticks ? std::min(ns, endNs()) : std::max(ns, endNs());
  }
  const auto after = std::upper_bound(pairs_.begin(), pairs_.end(), ticks,
                                      [](std::uint64_t t, const ClockPair& pair) { return t < pair.ticks; });
  const TimeNs ns = between(*(after - 1), *after, ticks);
  return std::min(ns, after->monotonic_ns - start_.monotonic_ns);
}

}  // namespace pitwall::ring
