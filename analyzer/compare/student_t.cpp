#include "analyzer/compare/student_t.h"

#include <cmath>

namespace pitwall::comparing {
namespace {

// The continued fraction of the incomplete beta function, with as many terms as change it. It converges fast
// for x below (a + 1) / (a + b + 2), where the caller uses it.
double betaFraction(double a, double b, double x) {
  constexpr int kTerms = 500;
  constexpr double kSmall = 1e-300;
  const auto notZero = [](double value) { return std::fabs(value) < kSmall ? kSmall : value; };
  double fraction = 1, numerators = 1, denominators = 0;
  for (int term = 1; term <= kTerms; ++term) {
    const int m = term / 2;
    const double factor = term % 2 == 0 ? m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
                                        : -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    denominators = 1 / notZero(1 + factor * denominators);
    numerators = notZero(1 + factor / numerators);
    fraction *= numerators * denominators;
    if (std::fabs(numerators * denominators - 1) < 1e-14) break;
  }
  return 1 / fraction;
}

double incompleteBeta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * betaFraction(a, b, x) / a;
  return 1 - front * betaFraction(b, a, 1 - x) / b;
}

// Probability that t exceeds `value`, which is not negative.
double upperTail(double value, double freedom) {
  return incompleteBeta(freedom / 2, 0.5, freedom / (freedom + value * value)) / 2;
}

}  // namespace

double studentQuantile(double probability, double freedom) {
  if (probability < 0.5) return -studentQuantile(1 - probability, freedom);
  const double tail = 1 - probability;
  double low = 0, high = 1;
  while (upperTail(high, freedom) > tail && high < 1e12) high *= 2;
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    (upperTail(middle, freedom) > tail ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace pitwall::comparing
