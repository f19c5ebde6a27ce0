#include "analyzer/simulate/usual.h"

#include <algorithm>
#include <cmath>

#include "analyzer/analysis/statistics.h"

namespace pitwall::simulate {
namespace {

// Without so large a part at each end.
std::vector<double> middleOf(const std::vector<TimeNs>& durations, double part) {
  std::vector<double> sorted(durations.begin(), durations.end());
  std::sort(sorted.begin(), sorted.end());
  const auto left_out = static_cast<std::ptrdiff_t>(part * static_cast<double>(sorted.size()));
  return {sorted.begin() + left_out, sorted.end() - left_out};
}

}  // namespace

double usualOf(const std::vector<TimeNs>& durations) {
  return durations.empty() ? 0 : analysis::mean(middleOf(durations, 0.25));
}

double usualMeanOf(const std::vector<TimeNs>& durations) {
  return durations.empty() ? 0 : analysis::mean(middleOf(durations, 0.1));
}

double uncertaintyOf(const std::vector<TimeNs>& durations) {
  const auto middle = middleOf(durations, 0.1);
  if (middle.size() < 2) return 0;
  return 2 * analysis::coefficientOfVariation(middle) / std::sqrt(static_cast<double>(middle.size()));
}

std::vector<TimeNs> withoutExtremes(std::vector<TimeNs> durations) {
  const auto middle = middleOf(durations, 0.1);
  if (middle.empty()) return durations;
  const auto low = static_cast<TimeNs>(middle.front()), high = static_cast<TimeNs>(middle.back());
  for (auto& ns : durations) ns = std::clamp(ns, low, high);
  return durations;
}

}  // namespace pitwall::simulate
