#include "analyzer/tune/paired.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace pitwall::tuning {
namespace {

// Of the Beta distribution: five pairs of one sign suffice for 3.72 %, seven for 0.96 %.
constexpr double kWeight = 0.09;

}  // namespace

// The integral is the incomplete beta function B(1/2; b, a) with a = k + w, b = n - k + w, as a series of positive terms:
// 2^-(a+b) / b times the sum over i of 2^-i times the product over j < i of (a + b + j) / (b + 1 + j).
double signEvidence(int larger, int pairs) {
  const double a = larger + kWeight, b = pairs - larger + kWeight;
  double sum = 0, term = 1;
  for (int i = 0; i <= pairs || term > 1e-17 * sum; ++i) {
    sum += term;
    term *= (a + b + i) / (b + 1 + i) / 2;
  }
  const double beta = std::exp(2 * std::lgamma(kWeight) - std::lgamma(2 * kWeight));
  return std::exp2(1 - 2 * kWeight) / (b * beta) * sum;
}

int ranksOutside(int pairs, double alpha) {
  int outside = -1;
  while (2 * (outside + 1) < pairs && signEvidence(pairs - outside - 1, pairs) >= 1 / alpha) ++outside;
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
