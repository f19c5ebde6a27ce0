// Comparisons of several runs a side.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include <cmath>

#include "analyzer/compare.h"
#include "analyzer/emit.h"

namespace pitwall::compare_runs_test {
namespace {

using testing::HasSubstr;
using testing::Not;

// A program of two operators; `level` is how slow this run of it was.
Measured runOf(double level, double conv = 1, int number = 1) {
  Measured run;
  run.path = fmt::format("run{}.pitwall", number);
  run.devices = {"cpu: Some CPU"};
  run.items_per_iteration = 64;
  run.steady_iterations = 40;
  const double conv_ns = 6e6 * level * conv, fc_ns = 4e6 * level;
  for (int i = 0; i < 40; ++i)
    run.iterations_ns.push_back((conv_ns + fc_ns) * (1 + 0.02 * std::sin(i * 12.9898 + number)));
  run.shares = {{"forward", std::llround((conv_ns + fc_ns) * 40), 1}};
  run.work["conv1 Convolution"] = {40, conv_ns * 40, "conv1 Convolution", ""};
  run.work["fc Dense"] = {40, fc_ns * 40 * (1 + 0.01 * std::cos(number)), "fc Dense", ""};
  run.settings = {{"OMP_NUM_THREADS", "4"}};
  return run;
}

std::vector<Measured> runsOf(std::vector<double> levels, double conv = 1, int first = 1) {
  std::vector<Measured> runs;
  for (const double level : levels) runs.push_back(runOf(level, conv, first++));
  return runs;
}

const std::vector<double> kLevels = {1.00, 1.03, 0.98, 1.02, 0.97};

TEST(CompareRuns, WhatRunsOfOneProgramDoIsNoChange) {
  const auto a = runsOf(kLevels), b = runsOf({1.02, 0.99, 1.04, 0.98, 1.01}, 1, 6);
  const Comparison c = compare(a, b);
  EXPECT_EQ(c.basis, Comparison::Basis::runs);
  EXPECT_FALSE(c.isSignificant());
  EXPECT_EQ(c.a_iterations, 200U);
  EXPECT_EQ(c.verdict, Comparability::comparable);
  for (const auto& row : c.work) EXPECT_FALSE(row.differs()) << row.name;
  const std::string text = comparisonAsText(c, {.width = 200});
  EXPECT_THAT(text, HasSubstr("which run-to-run variation explains (97 % interval"));
  EXPECT_THAT(text, HasSubstr("5 runs of A and 5 runs of B"));
  EXPECT_THAT(text, HasSubstr("run3.pitwall")) << "each run has a line";
  EXPECT_EQ(checkRegression(c, 0), RegressionCheck::none);
}

TEST(CompareRuns, TheOperatorThatChangedIsNamedAndNoOther) {
  const auto a = runsOf(kLevels), b = runsOf({1.02, 0.99, 1.04, 0.98, 1.01}, 1.25, 6);
  const Comparison c = compare(a, b);
  EXPECT_TRUE(c.isSignificant());
  EXPECT_NEAR(c.change, 0.15, 0.02);
  EXPECT_NEAR(c.b_ns / c.a_ns - 1, c.change, 1e-12) << "the figures and the change are of one statistic";
  ASSERT_EQ(c.work.size(), 2U);
  EXPECT_EQ(c.work[0].name, "conv1 Convolution");
  EXPECT_TRUE(c.work[0].differs());
  EXPECT_FALSE(c.work[1].differs());
  EXPECT_TRUE(c.work[1].has_interval);
  EXPECT_EQ(c.work[0].a_count, 40) << "of one run";
  EXPECT_EQ(checkRegression(c, 0.05), RegressionCheck::regression);
  EXPECT_EQ(checkRegression(c, 0.30), RegressionCheck::none);
  const std::string text = comparisonAsText(c, {.width = 200});
  EXPECT_THAT(text, testing::ContainsRegex("conv1 Convolution.*slower"));
  EXPECT_THAT(text, Not(testing::ContainsRegex("fc Dense[^\n]*(slower|faster)")));
}

// A run on a machine whose other programs slow the first part of it by 1.8.
Measured disturbedRun(double level, double disturbed_share, int number) {
  Measured run = runOf(level, 1, number);
  const auto disturbed =
      static_cast<std::size_t>(disturbed_share * static_cast<double>(run.iterations_ns.size()));
  for (std::size_t i = 0; i < disturbed; ++i) run.iterations_ns[i] *= 1.8;
  return run;
}

TEST(CompareRuns, TheFastestTenthShowsAChangeThatDisturbedMediansHide) {
  const std::vector<double> disturbed = {0.1, 0.8, 0.3, 0.6, 0.2};
  std::vector<Measured> a, b, unchanged;
  for (int i = 0; i < 5; ++i) {
    const double share = disturbed[static_cast<std::size_t>(i)];
    a.push_back(disturbedRun(1, share, i + 1));
    b.push_back(disturbedRun(1.1, disturbed[static_cast<std::size_t>(4 - i)], i + 6));
    unchanged.push_back(disturbedRun(1.003, disturbed[static_cast<std::size_t>(4 - i)], i + 11));
  }
  const Comparison c = compare(a, b);
  EXPECT_FALSE(c.isSignificant()) << "of the medians";
  EXPECT_TRUE(c.fastest.differs());
  EXPECT_NEAR(c.fastest.change, 0.10, 0.01);
  EXPECT_LT(c.fastest.run_spread, 0.02);
  const std::string text = comparisonAsText(c, {.width = 300});
  EXPECT_THAT(text, HasSubstr("The fastest tenth of the iterations, which other programs disturb least"));
  EXPECT_THAT(text, testing::ContainsRegex("B is (9|10)\\.[0-9] % slower \\(99 % interval"));
  EXPECT_EQ(checkRegression(c, 0.05), RegressionCheck::regression);
  EXPECT_EQ(checkRegression(c, 0.20), RegressionCheck::none);

  const Comparison same = compare(a, unchanged);
  EXPECT_FALSE(same.isSignificant());
  EXPECT_FALSE(same.fastest.differs());
  EXPECT_THAT(comparisonAsText(same, {.width = 300}), Not(HasSubstr("fastest tenth")));
}

TEST(CompareRuns, TheFastestTenthNeedsThreeRunsOfTwentyIterations) {
  const auto a = runsOf({1, 1.01, 0.99}), b = runsOf({1.2, 1.21, 1.19}, 1, 4);
  EXPECT_TRUE(compare(a, b).fastest.has_interval);
  EXPECT_FALSE(compare(std::span(a).first(2), b).fastest.has_interval);
  auto few = b;
  for (auto& run : few) run.iterations_ns.resize(19);
  EXPECT_FALSE(compare(a, few).fastest.has_interval);
}

TEST(CompareRuns, ATableOfManyEqualRowsRarelyNamesOne) {
  int named = 0;
  constexpr int kTrials = 200, kRows = 40;
  std::uint64_t state = 42;
  const auto noise = [&] {  // a sum of twelve uniform draws: nearly normal, the same everywhere
    double sum = -6;
    for (int i = 0; i < 12; ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      sum += static_cast<double>(state >> 11) / 9007199254740992.0;
    }
    return sum;
  };
  const auto draw = [&](int number) {
    Measured run = runOf(1, 1, number);
    run.work.clear();
    for (int row = 0; row < kRows; ++row)
      run.work[fmt::format("op{}", row)] = {40, 40 * 0.25e6 * std::exp(0.08 * noise()),
                                            fmt::format("op{}", row), ""};
    return run;
  };
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<Measured> a, b;
    for (int run = 0; run < 5; ++run) a.push_back(draw(2 * run)), b.push_back(draw(2 * run + 1));
    const Comparison c = compare(a, b);
    EXPECT_TRUE(c.work.front().has_interval);
    named += c.work.front().differs();  // those that differ come first
  }
  EXPECT_LE(named, 0.05 * kTrials + 6) << "of tables, not of rows";
}

TEST(CompareRuns, WhatOnlySomeRunsHaveIsNotTested) {
  auto a = runsOf(kLevels), b = runsOf(kLevels, 1.01, 6);
  for (auto* side : {&a, &b}) {
    for (auto& run : *side) run.work["common"] = {1, 1e6, "common", ""};
  }
  b[0].work["sometimes"] = {1, 40e6, "sometimes", ""};
  for (auto& run : b) run.work["added"] = {1, 40e6, "added", ""};
  for (const auto& row : compare(a, b).work) {
    if (row.name == "sometimes" || row.name == "added") {
      EXPECT_FALSE(row.has_interval) << row.name;
      EXPECT_NEAR(row.b_ns, row.name == "added" ? 1e6 : 0, 1e-3) << "the median run";
    }
  }
}

TEST(CompareRuns, WholeRecordingsCanBeComparedWhenThereAreSeveral) {
  const auto wholes = [](std::vector<double> levels, int first) {
    auto runs = runsOf(std::move(levels), 1, first);
    for (Measured& run : runs) {
      run.whole_ns = 40 * run.iterations_ns.front();
      run.iterations_ns.clear();
      run.items_per_iteration = 0;
      run.steady_iterations = 1;
    }
    return runs;
  };
  const Comparison same = compare(wholes(kLevels, 1), wholes({1.02, 0.99, 1.04, 0.98, 1.01}, 6));
  EXPECT_TRUE(same.by_recording);
  EXPECT_TRUE(same.hasInterval());
  EXPECT_FALSE(same.isSignificant());
  const Comparison slower = compare(wholes(kLevels, 1), wholes({1.32, 1.29, 1.34, 1.28, 1.31}, 6));
  EXPECT_EQ(checkRegression(slower, 0.1), RegressionCheck::regression);
  const Comparison two = compare(wholes({1, 1.01}, 1), wholes({2, 2.01}, 3));
  EXPECT_FALSE(two.hasInterval()) << "what is assumed is of iterations";
}

TEST(CompareRuns, RunsOfOneSideMustBeAlike) {
  auto a = runsOf(kLevels);
  const auto b = runsOf(kLevels, 1.01, 6);
  a[2].settings["OMP_NUM_THREADS"] = "8";
  Comparison c = compare(a, b);
  EXPECT_EQ(c.verdict, Comparability::withReservations);
  EXPECT_THAT(comparisonAsText(c, {.width = 200}), HasSubstr("A1 and A3 differ in OMP_NUM_THREADS"));
  a[2] = runOf(1, 1, 3);
  a[1].items_per_iteration = 128;
  EXPECT_EQ(compare(a, b).verdict, Comparability::notComparable);
  a[1] = runOf(1, 1, 2);
  a[1].devices = {"cpu: Another"};
  EXPECT_EQ(compare(a, b).verdict, Comparability::notComparable);
}

TEST(CompareRuns, DevicesThatNoRunNamesDoNotDiffer) {
  auto a = runsOf({1, 1.01, 0.99}), b = runsOf({1, 1.01, 0.99}, 1, 4);
  for (auto* side : {&a, &b}) {
    for (auto& run : *side) run.devices.clear();
  }
  const Comparison c = compare(a, b);
  EXPECT_EQ(c.verdict, Comparability::withReservations);
  EXPECT_THAT(comparisonAsText(c, {.width = 300}), Not(HasSubstr("differ in")));
}

TEST(CompareRuns, OneSideAfterTheOtherIsSaid) {
  auto a = runsOf(kLevels), b = runsOf(kLevels, 1.01, 6);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i].start_unix_ns = static_cast<std::int64_t>(1 + 2 * i);
    b[i].start_unix_ns = static_cast<std::int64_t>(2 + 2 * i);
  }
  EXPECT_EQ(compare(a, b).verdict, Comparability::comparable) << "in turns";
  for (auto& run : b) run.start_unix_ns += 100;
  const Comparison c = compare(a, b);
  EXPECT_EQ(c.verdict, Comparability::withReservations);
  EXPECT_THAT(comparisonAsText(c, {.width = 400}), HasSubstr("record alternating runs"));
}

TEST(CompareRuns, ARecordingCountsOnce) {
  const auto a = runsOf(kLevels), b = runsOf(kLevels, 1.01, 6);
  EXPECT_TRUE(repeatedRecordings(a, b).empty());
  const std::vector<Measured> twice = {a[0], a[1], a[0]};
  const auto pairs = repeatedRecordings(twice, b);
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0], (std::pair<std::size_t, std::size_t>(0, 2)));
  const std::vector<Measured> shared = {b[0], a[1]};
  EXPECT_EQ(repeatedRecordings(shared, b)[0], (std::pair<std::size_t, std::size_t>(0, 2)));
  EXPECT_TRUE(repeatedRecordings({a.data(), 1}, {a.data(), 1}).empty()) << "has its own answer";
}

}  // namespace
}  // namespace pitwall::compare_runs_test
