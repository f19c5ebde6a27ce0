#include "analyzer/analysis/thread_curve.h"

#include <algorithm>

#include "analyzer/analysis/analysis_tables.h"
#include "analyzer/analysis/temp_table.h"

namespace pitwall::analysis {

constexpr Column kThreadCurveColumns[] = {
    {"threads", kInteger, "count", "OpenMP threads: 1 to the largest number tried"},
    {"iteration_ns", kReal, "ns", "time of an iteration on the curve"},
    {"r_squared", kReal, "0..1", "R^2 of the curve, the same in each row: 1 = all trials are on it"},
};
constexpr TableDeclaration kThreadCurveTable{
    "analysis_thread_curve",
    "A number of OpenMP threads with the time that the curve a + b/n + c n through analysis_thread_trial "
    "gives. No "
    "row = fewer than four numbers were tried, or more threads share no work (b is 0 or less).",
    kThreadCurveColumns};

namespace {

constexpr std::size_t kFewestTrials = 4;
constexpr std::int64_t kMostThreads = 1 << 16;  // a trace may claim any number

}  // namespace

std::optional<ThreadCurve> threadCurve(std::span<const ThreadTrial> trials) {
  if (trials.size() < kFewestTrials) return {};
  const auto count = static_cast<double>(trials.size());
  double mean_u = 0, mean_v = 0, mean_t = 0;  // u = 1 / n, v = n
  for (const auto& trial : trials) {
    const auto threads = static_cast<double>(trial.threads);
    mean_u += 1 / threads / count, mean_v += threads / count, mean_t += trial.iteration_ns / count;
  }
  // Sums about the mean leave two equations for b and c.
  double uu = 0, vv = 0, uv = 0, ut = 0, vt = 0, tt = 0;
  for (const auto& trial : trials) {
    const double u = 1 / static_cast<double>(trial.threads) - mean_u;
    const double v = static_cast<double>(trial.threads) - mean_v;
    const double t = trial.iteration_ns - mean_t;
    uu += u * u, vv += v * v, uv += u * v, ut += u * t, vt += v * t, tt += t * t;
  }
  const double determinant = uu * vv - uv * uv;
  // 0 but for rounding: fewer than three different numbers of threads.
  if (!(determinant > 1e-12 * uu * vv)) return {};
  ThreadCurve curve;
  curve.divided_ns = (ut * vv - vt * uv) / determinant;
  curve.each_ns = (vt * uu - ut * uv) / determinant;
  curve.fixed_ns = mean_t - curve.divided_ns * mean_u - curve.each_ns * mean_v;
  if (!(curve.divided_ns > 0)) return {};
  double residuals = 0;
  for (const auto& trial : trials) {
    const double off = trial.iteration_ns - curve.at(static_cast<double>(trial.threads));
    residuals += off * off;
  }
  constexpr double kLeastSpread = 1e-9;  // ns^2, of times that are all the same
  // Only rounding leaves more than the mean does.
  curve.r_squared = std::max(0.0, 1 - residuals / std::max(tt, kLeastSpread));
  return curve;
}

Status writeThreadCurve(Trace& trace, std::span<const ThreadTrial> trials) {
  TempTable table(kThreadCurveTable);
  if (const auto curve = threadCurve(trials)) {
    std::int64_t most = 0;
    for (const auto& trial : trials) most = std::max(most, trial.threads);
    for (std::int64_t threads = 1; threads <= std::min(most, kMostThreads); ++threads)
      table.row({threads, curve->at(static_cast<double>(threads)), curve->r_squared});
  }
  return table.write(trace);
}

}  // namespace pitwall::analysis
