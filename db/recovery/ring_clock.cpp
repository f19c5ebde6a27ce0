#include "db/ring_clock.h"

#include <algorithm>

namespace pitwall::ring {

namespace {

constexpr TimeNs kMostNs = TimeNs{1} << 61U;  // sums of two fit; a damaged file may have any number

}  // namespace

void ClockMap::add(ClockPair pair) {
  const ClockPair& last = pairs_.back();
  if (pair.ticks <= last.ticks || pair.monotonic_ns <= last.monotonic_ns) return;
  const auto since_start =
      static_cast<std::uint64_t>(pair.monotonic_ns) - static_cast<std::uint64_t>(start_.monotonic_ns);
  if (since_start > static_cast<std::uint64_t>(kMostNs)) return;
  if (pairs_.size() == kMostPairs) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < kMostPairs; ++i) {
      if (i % 2 == 0 || i + FileHeader::kPairs >= kMostPairs)
        pairs_[kept++] = pairs_[i];  // all that the file has
    }
    pairs_.resize(kept);
  }
  pairs_.push_back(pair);
}

TimeNs ClockMap::between(const ClockPair& from, const ClockPair& to, std::uint64_t ticks) const {
  const double slope =
      static_cast<double>(to.monotonic_ns - from.monotonic_ns) / static_cast<double>(to.ticks - from.ticks);
  const double ahead = static_cast<double>(ticks - from.ticks) * slope;
  return sinceStart(from) + static_cast<TimeNs>(std::min(ahead, static_cast<double>(kMostNs)));
}

TimeNs ClockMap::toNs(std::uint64_t ticks) const {
  if (ticks <= start_.ticks) return 0;
  if (pairs_.size() == 1) {
    // There is no second pair yet to measure the TSC's frequency; the caller adds one before it converts.
    return ticks_are_ns_ ? static_cast<TimeNs>(std::min<std::uint64_t>(ticks - start_.ticks, kMostNs)) : 0;
  }
  const std::size_t last = pairs_.size() - 1;
  if (ticks >= pairs_[last - 1].ticks) {
    const TimeNs ns = between(pairs_[last - 1], pairs_[last], ticks);
    return ticks <= pairs_[last].ticks ? std::min(ns, endNs()) : std::max(ns, endNs());
  }
  const auto after = std::upper_bound(pairs_.begin(), pairs_.end(), ticks,
                                      [](std::uint64_t t, const ClockPair& pair) { return t < pair.ticks; });
  const TimeNs ns = between(*(after - 1), *after, ticks);
  return std::min(ns, sinceStart(*after));
}

}  // namespace pitwall::ring
