// Two programs that run in turns, so that other programs disturb both alike.
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace pitwall {

// Medians over the pairs; the ratio is that of the first to the second within a pair.
struct PairedTimes {
  double first_us = 0, second_us = 0, ratio = 0;
};

// Microseconds of a call, from series of calls that take about `series_us`.
template <class First, class Second>
PairedTimes pairedTimes(First first, Second second, int pairs, double series_us) {
  const auto timed = [](auto& call, int calls) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) call();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    return took.count() / calls;
  };
  timed(first, 3);  // what is made at the first call
  timed(second, 3);
  const int calls = static_cast<int>(std::clamp(series_us / timed(first, 2), 3.0, 300.0));
  std::vector<double> of_first, of_second, ratios;
  for (int i = 0; i < pairs; ++i) {
    if (i % 2 == 0) of_first.push_back(timed(first, calls));
    of_second.push_back(timed(second, calls));
    if (i % 2 != 0) of_first.push_back(timed(first, calls));
    ratios.push_back(of_first.back() / of_second.back());
  }
  const auto median = [](std::vector<double>& of) {
    std::ranges::sort(of);
    return of[of.size() / 2];
  };
  return {median(of_first), median(of_second), median(ratios)};
}

}  // namespace pitwall
