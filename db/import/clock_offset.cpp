#include "db/import/clock_offset.h"

#include <algorithm>
#include <cstdlib>

namespace pitwall::import {
namespace {

// Takes values in any order and reorders them.
TimeNs quantile(std::vector<TimeNs>& values, double share) {
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

}  // namespace

std::optional<ClockOffset> clockOffset(const Moments& first, const Moments& second, std::size_t least) {
  std::vector<TimeNs> differences;
  auto one = first.begin();
  auto two = second.begin();
  while (one != first.end() && two != second.end()) {
    if (one->first < two->first) {
      ++one;
    } else if (two->first < one->first) {
      ++two;
    } else {
      differences.push_back(one->second - two->second);
      ++one;
      ++two;
    }
  }
  if (differences.empty() || differences.size() < least) return std::nullopt;
  ClockOffset out;
  out.moments = differences.size();
  out.offset_ns = quantile(differences, 0.5);
  for (TimeNs& difference : differences) difference = std::abs(difference - out.offset_ns);
  out.uncertainty_ns = quantile(differences, 0.9);
  return out;
}

}  // namespace pitwall::import
