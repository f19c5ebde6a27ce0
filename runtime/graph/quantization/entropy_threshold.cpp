// Szymon Migacz, 8-bit Inference with TensorRT (2017): the threshold whose quantized distribution has the least Kullback-Leibler divergence
// from the distribution itself. MXNet's calibration does the same.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "runtime/graph/quantization/quantization.h"

namespace pitwall::graph {

namespace {

// What joining bins has made empty or not counts as this much: a divergence is finite then.
constexpr double kLeastCount = 1e-4;

// Of the first `kept` bins, what is beyond added to the last, from the same joined to `steps` and spread again over those that were not empty.
double divergence(std::span<const double> counts, std::size_t kept, std::size_t steps) {
  std::vector<double> cut(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(kept));
  const double beyond =
      std::accumulate(counts.begin() + static_cast<std::ptrdiff_t>(kept), counts.end(), 0.0);
  std::vector<double> spread(kept, 0.0);
  for (std::size_t step = 0; step < steps; ++step) {
    const std::size_t begin = step * kept / steps, end = (step + 1) * kept / steps;
    double sum = 0, filled = 0;
    for (std::size_t i = begin; i < end; ++i) {
      sum += cut[i];
      filled += cut[i] > 0 ? 1 : 0;
    }
    for (std::size_t i = begin; i < end; ++i)
      if (cut[i] > 0) spread[i] = sum / filled;
  }
  cut.back() += beyond;
  double cut_sum = 0, spread_sum = 0, result = 0;
  for (std::size_t i = 0; i < kept; ++i) {
    cut[i] = std::max(cut[i], kLeastCount);
    spread[i] = std::max(spread[i], kLeastCount);
    cut_sum += cut[i];
    spread_sum += spread[i];
  }
  for (std::size_t i = 0; i < kept; ++i)
    result += cut[i] / cut_sum * std::log((cut[i] / cut_sum) / (spread[i] / spread_sum));
  return result;
}

}  // namespace

// Zeros, of which relu leaves many, are exact whatever the steps: they count no more than their neighbours.
std::size_t leastDivergentCut(std::span<const double> all_counts, std::size_t steps) {
  std::vector<double> counts(all_counts.begin(), all_counts.end());
  if (counts.size() > 1) counts[0] = std::min(counts[0], counts[1]);
  std::size_t best = counts.size();
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t kept = std::min(steps, counts.size()); kept <= counts.size(); ++kept) {
    const double here = divergence(counts, kept, std::min(steps, kept));
    if (here < least) {
      least = here;
      best = kept;
    }
  }
  return best;
}

}  // namespace pitwall::graph
