#include "db/stacks.h"

#include <algorithm>

namespace pitwall {
namespace {

constexpr TimeNs kLongestInMedians = 20, kLongestNs = 60'000'000'000;

// Traces of several recorders have several rates, so each thread has its own limit.
TimeNs longestOf(std::vector<TimeNs> gaps) {
  if (gaps.empty()) return 0;
  const auto median = gaps.begin() + static_cast<std::ptrdiff_t>((gaps.size() - 1) / 2);
  std::nth_element(gaps.begin(), median, gaps.end());
  return std::min(*median * kLongestInMedians, kLongestNs);
}

}  // namespace

std::vector<TimeNs> stackTimes(std::span<const CounterSample> samples) {
  std::vector<TimeNs> times;
  for (std::size_t i = 0; i + 1 < samples.size(); ++i) {
    TimeNs gap = 0;  // of a damaged trace it may be any
    const bool overflows = __builtin_sub_overflow(samples[i + 1].time_ns, samples[i].time_ns, &gap);
    times.push_back(overflows ? kLongestNs + 1 : std::min(gap, kLongestNs + 1));
  }
  const TimeNs longest = longestOf(times);
  for (TimeNs& time : times) {
    if (time > longest) time = 0;
  }
  times.resize(samples.size());
  return times;
}

}  // namespace pitwall
