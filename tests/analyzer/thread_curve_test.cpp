// The curve through trials with several numbers of OpenMP threads.
#include "analyzer/analysis/thread_curve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "db/reader.h"
#include "db/store.h"
#include "tests/support/temp_folder.h"

namespace pitwall::analysis::thread_curve_test {
namespace {

std::vector<ThreadTrial> onCurve(std::initializer_list<std::int64_t> numbers, double a, double b, double c) {
  std::vector<ThreadTrial> trials;
  for (const auto n : numbers) {
    const auto threads = static_cast<double>(n);
    trials.push_back({n, a + b / threads + c * threads});
  }
  return trials;
}

TEST(ThreadCurve, ExactTimesGiveTheirCurveBack) {
  const auto curve = threadCurve(onCurve({1, 4, 14, 28}, 2e6, 12e6, 0.12e6));
  ASSERT_TRUE(curve.has_value());
  EXPECT_NEAR(curve->fixed_ns, 2e6, 1);
  EXPECT_NEAR(curve->divided_ns, 12e6, 1);
  EXPECT_NEAR(curve->each_ns, 0.12e6, 1);
  EXPECT_NEAR(curve->r_squared, 1, 1e-12);
  EXPECT_NEAR(curve->at(10), 4.4e6, 1) << "a number that was not tried";
  const auto many = threadCurve(onCurve({512, 513, 1024, 2048, 65'536}, 1e3, 1e9, 2));
  ASSERT_TRUE(many.has_value());
  EXPECT_NEAR(many->divided_ns, 1e9, 1e3);
}

// Of the best curve the residuals are uncorrelated with each of its three terms, and any other curve is worse.
TEST(ThreadCurve, NoiseLeavesTheLeastSquares) {
  std::mt19937 random(7);
  std::normal_distribution<double> noise(0, 2e5);
  auto trials = onCurve({1, 2, 3, 4, 6, 8, 12, 16, 24, 32}, 3e6, 20e6, 0.1e6);
  for (auto& trial : trials) trial.iteration_ns += noise(random);
  const auto curve = threadCurve(trials);
  ASSERT_TRUE(curve.has_value());
  const auto squares = [&](const ThreadCurve& of) {
    double sum = 0;
    for (const auto& trial : trials)
      sum += std::pow(trial.iteration_ns - of.at(static_cast<double>(trial.threads)), 2);
    return sum;
  };
  double off = 0, off_u = 0, off_v = 0, mean = 0, spread = 0;
  for (const auto& trial : trials) {
    const auto n = static_cast<double>(trial.threads);
    const double residual = trial.iteration_ns - curve->at(n);
    off += residual, off_u += residual / n, off_v += residual * n;
    mean += trial.iteration_ns / static_cast<double>(trials.size());
  }
  for (const auto& trial : trials) spread += std::pow(trial.iteration_ns - mean, 2);
  EXPECT_NEAR(off, 0, 1);
  EXPECT_NEAR(off_u, 0, 1);
  EXPECT_NEAR(off_v, 0, 10);
  EXPECT_NEAR(curve->r_squared, 1 - squares(*curve) / spread, 1e-9);
  EXPECT_GT(curve->r_squared, 0.98);
  EXPECT_LT(curve->r_squared, 1);
  for (const double change : {-1e3, 1e3}) {
    auto other = *curve;
    other.fixed_ns += change;
    EXPECT_GT(squares(other), squares(*curve));
    other = *curve;
    other.divided_ns += change;
    EXPECT_GT(squares(other), squares(*curve));
    other = *curve;
    other.each_ns += change;
    EXPECT_GT(squares(other), squares(*curve));
  }
}

TEST(ThreadCurve, TimesThatNoCurveExplainsHaveALowRSquared) {
  const std::vector<ThreadTrial> trials = {{1, 9e6}, {2, 3e6}, {4, 9e6}, {8, 4e6}, {16, 6e6}};
  const auto curve = threadCurve(trials);
  EXPECT_TRUE(!curve.has_value() || curve->r_squared < 0.5);
}

TEST(ThreadCurve, IsMissingWhereNothingSupportsIt) {
  EXPECT_FALSE(threadCurve({}).has_value());
  EXPECT_FALSE(threadCurve(onCurve({1, 2, 4}, 1e6, 8e6, 0)).has_value()) << "three trials fit any curve";
  EXPECT_TRUE(threadCurve(onCurve({1, 2, 4, 8}, 1e6, 8e6, 0)).has_value());
  EXPECT_FALSE(threadCurve(onCurve({1, 2, 4, 8}, 5e6, 0, 0)).has_value()) << "threads change nothing";
  EXPECT_FALSE(threadCurve(onCurve({1, 2, 4, 8}, 5e6, -1e6, 1e6)).has_value()) << "threads only cost";
  EXPECT_FALSE(threadCurve(onCurve({2, 2, 4, 4}, 1e6, 8e6, 0)).has_value()) << "two numbers, four times";
  EXPECT_FALSE(threadCurve(onCurve({4, 4, 4, 4}, 1e6, 8e6, 0)).has_value()) << "one number";
}

std::size_t rowsFor(const std::vector<ThreadTrial>& trials) {
  const test::TempFolder folder;
  auto sink = createTrace(folder / "t.pitwall");
  EXPECT_TRUE(sink.has_value() && sink.value()->finish().has_value());
  auto trace = Trace::open(folder / "t.pitwall");
  EXPECT_TRUE(trace.has_value());
  EXPECT_TRUE(writeThreadCurve(*trace.value(), trials).has_value());
  const auto rows =
      trace.value()->query("SELECT threads, iteration_ns, r_squared FROM analysis_thread_curve");
  EXPECT_TRUE(rows.has_value());
  for (std::size_t i = 0; i < rows->rows.size(); ++i)
    EXPECT_EQ(std::get<std::int64_t>(rows->rows[i][0]), static_cast<std::int64_t>(i + 1));
  return rows->rows.size();
}

TEST(ThreadCurve, ItsTableGoesUpToTheLargestNumberTried) {
  EXPECT_EQ(rowsFor(onCurve({1, 4, 14, 28}, 2e6, 12e6, 0.12e6)), 28U);
  EXPECT_EQ(rowsFor(onCurve({1, 4}, 2e6, 12e6, 0.12e6)), 0U);
  EXPECT_EQ(rowsFor(onCurve({1, 4, 14, 4'000'000'000}, 2e6, 12e6, 0)), 65'536U) << "whatever a trace claims";
}

}  // namespace
}  // namespace pitwall::analysis::thread_curve_test
