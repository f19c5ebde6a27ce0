#include "analyzer/compare/noise.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace pitwall::comparing {
namespace {

constexpr int kRounds = 2000;
constexpr std::size_t kMostValues = 4096;  // of a sample; a longer one is thinned evenly

std::vector<double> thinned(std::span<const double> values) {
  if (values.size() <= kMostValues) return {values.begin(), values.end()};
  std::vector<double> out;
  for (std::size_t i = 0; i < kMostValues; ++i) out.push_back(values[i * values.size() / kMostValues]);
  return out;
}

double medianInPlace(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// Not std::uniform_int_distribution, whose results differ between libraries.
std::size_t below(std::mt19937_64& engine, std::size_t bound) { return engine() % bound; }

double drawnMedian(const std::vector<double>& values, std::mt19937_64& engine, std::vector<double>& drawn) {
  const auto block = static_cast<std::size_t>(std::max(1.0, std::cbrt(static_cast<double>(values.size()))));
  drawn.clear();
  while (drawn.size() < values.size()) {
    std::size_t at = below(engine, values.size());
    for (std::size_t i = 0; i < block && drawn.size() < values.size(); ++i, ++at)
      drawn.push_back(values[at % values.size()]);
  }
  return medianInPlace(drawn);
}

}  // namespace

double medianOf(std::span<const double> values) {
  if (values.empty()) return 0;
  std::vector<double> copy(values.begin(), values.end());
  return medianInPlace(copy);
}

Interval bootstrapChange(std::span<const double> a, std::span<const double> b) {
  const std::vector<double> from = thinned(a);
  const std::vector<double> to = thinned(b);
  std::mt19937_64 engine(20260101);
  std::vector<double> drawn;
  std::vector<double> changes;
  for (int round = 0; round < kRounds; ++round) {
    const double before = drawnMedian(from, engine, drawn);
    const double after = drawnMedian(to, engine, drawn);
    changes.push_back(before > 0 ? after / before - 1 : 0);
  }
  std::sort(changes.begin(), changes.end());
  return {changes[kRounds / 40], changes[kRounds - 1 - kRounds / 40]};
}

}  // namespace pitwall::comparing
