#include "analyzer/tune/paired.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace pitwall::tuning {
namespace {

constexpr double kWeight = 0.25;  // of the Beta distribution

double logBeta(double a, double b) { return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b); }

}  // namespace

double signEvidence(int larger, int pairs) {
  const double log_ratio =
      pairs * std::log(2.0) + logBeta(larger + kWeight, pairs - larger + kWeight) - logBeta(kWeight, kWeight);
  return std::exp(log_ratio);
}

int ranksOutside(int pairs, double alpha) {
  int outside = -1;
  while (2 * (outside + 1) < pairs && signEvidence(outside + 1, pairs) >= 1 / alpha) ++outside;
  return outside;
}

Ratio ratioOf(std::span<const Pair> pairs, double alpha) {
  Ratio result;
  result.pairs = static_cast<int>(pairs.size());
  if (pairs.empty()) return result;
  std::vector<Pair> sorted(pairs.begin(), pairs.end());
  const auto ratio = [](const Pair& pair) { return pair.after / pair.before; };
  std::ranges::sort(sorted, {}, ratio);
  const Pair& lower = sorted[(sorted.size() - 1) / 2];
  const Pair& upper = sorted[sorted.size() / 2];
  result.before = std::sqrt(lower.before * upper.before);
  result.after = std::sqrt(lower.after * upper.after);
  result.middle = result.after / result.before;
  if (const int outside = ranksOutside(result.pairs, alpha); outside >= 0) {
    result.has_interval = true;
    result.low = ratio(sorted[static_cast<std::size_t>(outside)]);
    result.high = ratio(sorted[sorted.size() - 1 - static_cast<std::size_t>(outside)]);
  }
  return result;
}

}  // namespace pitwall::tuning
