#include "analyzer/compare/decide.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analyzer/compare/student_t.h"

namespace pitwall::comparing {
namespace {

constexpr std::size_t kParts = 10;
// Runs that agree to the last digit do so because a clock or a text format was coarse.
constexpr double kLeastSpread = 0.001;

// Logarithms of times: their number, mean and sum of squared distances from it.
struct Sample {
  double count = 0, mean = 0, squares = 0;
  double variance() const { return count > 1 ? squares / (count - 1) : 0; }
};

Sample sampleOf(std::span<const double> logs) {
  Sample sample;
  sample.count = static_cast<double>(logs.size());
  for (const double value : logs) sample.mean += value / sample.count;
  for (const double value : logs) sample.squares += (value - sample.mean) * (value - sample.mean);
  return sample;
}

std::vector<double> logsOf(std::span<const RunTime> runs) {
  std::vector<double> logs;
  for (const RunTime& run : runs) logs.push_back(std::log(run.ns));
  return logs;
}

// Variance of the difference of the means, with its degrees of freedom.
struct Error {
  double variance = 0, freedom = 1;
};

// Welch: each side has its own variance, since a setting may change the variance.
Error errorOfRuns(const Sample& a, const Sample& b) {
  const double least = kLeastSpread * kLeastSpread;
  const double of_a = std::max(a.variance(), least) / a.count, of_b = std::max(b.variance(), least) / b.count;
  const double sum = of_a + of_b;
  return {sum, sum * sum / (of_a * of_a / (a.count - 1) + of_b * of_b / (b.count - 1))};
}

// The assumed variance and the measured one of both sides, each weighted by its degrees of freedom. A run
// whose parts differ was made on a machine whose runs differ at least as much.
double assumedVariance(std::span<const RunTime> a, std::span<const RunTime> b, const Sample& of_a,
                       const Sample& of_b) {
  double within = 0;
  for (const auto side : {a, b}) {
    for (const RunTime& run : side) within += run.spread * run.spread;
  }
  within /= static_cast<double>(a.size() + b.size());
  const double assumed = kAssumedSpread * kAssumedSpread + within;
  const double freedom = of_a.count + of_b.count - 2;
  return (kAssumedFreedom * assumed + of_a.squares + of_b.squares) / (kAssumedFreedom + freedom);
}

}  // namespace

Decision decide(std::span<const RunTime> a, std::span<const RunTime> b, double alpha) {
  Decision decision;
  const auto has_no_time = [](const RunTime& run) { return !(run.ns > 0); };
  for (const auto side : {a, b}) {
    if (side.empty() || std::any_of(side.begin(), side.end(), has_no_time)) return decision;
  }
  const Sample of_a = sampleOf(logsOf(a)), of_b = sampleOf(logsOf(b));
  Error error;
  if (std::min(a.size(), b.size()) >= kFewestRuns) {
    decision.basis = Basis::runs;
    error = errorOfRuns(of_a, of_b);
    decision.spread = std::sqrt((of_a.squares + of_b.squares) / (of_a.count + of_b.count - 2));
  } else {
    decision.basis = Basis::assumed;
    const double variance = assumedVariance(a, b, of_a, of_b);
    error = {variance * (1 / of_a.count + 1 / of_b.count), kAssumedFreedom + of_a.count + of_b.count - 2};
    decision.spread = std::sqrt(variance);
  }
  const double difference = of_b.mean - of_a.mean;
  const double half = studentQuantile(1 - alpha / 2, error.freedom) * std::sqrt(error.variance);
  decision.change = std::expm1(difference);
  decision.low = std::expm1(difference - half);
  decision.high = std::expm1(difference + half);
  return decision;
}

double medianOf(std::span<const double> values) {
  if (values.empty()) return 0;
  std::vector<double> copy(values.begin(), values.end());
  const auto middle = copy.begin() + static_cast<std::ptrdiff_t>(copy.size() / 2);
  std::nth_element(copy.begin(), middle, copy.end());
  if (copy.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(copy.begin(), middle)) / 2;
}

double geometricMean(std::span<const RunTime> runs) {
  const bool positive = std::all_of(runs.begin(), runs.end(), [](const RunTime& run) { return run.ns > 0; });
  if (runs.empty() || !positive) return 0;
  if (runs.size() == 1) return runs.front().ns;  // exactly
  return std::exp(sampleOf(logsOf(runs)).mean);
}

double spreadOfParts(std::span<const double> iterations_ns) {
  const std::size_t parts = std::min(kParts, iterations_ns.size());
  std::vector<double> logs;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t begin = part * iterations_ns.size() / parts;
    const std::size_t end = (part + 1) * iterations_ns.size() / parts;
    const double median = medianOf(iterations_ns.subspan(begin, end - begin));
    if (median > 0) logs.push_back(std::log(median));
  }
  return std::sqrt(sampleOf(logs).variance());
}

double spreadBetween(std::span<const RunTime> runs) {
  return geometricMean(runs) > 0 ? std::sqrt(sampleOf(logsOf(runs)).variance()) : 0;
}

}  // namespace pitwall::comparing
