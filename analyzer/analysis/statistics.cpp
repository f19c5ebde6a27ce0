#include "analyzer/analysis/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pitwall::analysis {

double quantile(std::vector<double> samples, double q) {
  if (samples.empty()) return 0;
  const double position = q * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<std::ptrdiff_t>(position);
  std::nth_element(samples.begin(), samples.begin() + below, samples.end());
  const double low = samples[static_cast<std::size_t>(below)];
  if (static_cast<std::size_t>(below) + 1 == samples.size()) return low;
  const double high = *std::min_element(samples.begin() + below + 1, samples.end());
  return low + (high - low) * (position - static_cast<double>(below));
}

double quantileOfSorted(const std::vector<double>& samples, double q) {
  if (samples.empty()) return 0;
  const double position = q * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  if (below + 1 >= samples.size()) return samples.back();
  return samples[below] + (samples[below + 1] - samples[below]) * (position - static_cast<double>(below));
}

double mean(const std::vector<double>& samples) {
  if (samples.empty()) return 0;
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

double coefficientOfVariation(const std::vector<double>& samples) {
  const double average = mean(samples);
  if (samples.size() < 2 || average == 0) return 0;
  double squares = 0;
  for (const double sample : samples) squares += (sample - average) * (sample - average);
  return std::sqrt(squares / static_cast<double>(samples.size() - 1)) / average;
}

}  // namespace pitwall::analysis
