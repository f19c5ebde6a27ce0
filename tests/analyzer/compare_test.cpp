#include "analyzer/compare.h"

#include <gmock/gmock.h>

#include <cmath>

#include "analyzer/compare/noise.h"
#include "analyzer/emit.h"

namespace pitwall {
namespace {

using testing::HasSubstr;

// Iterations around `mean` with a repeating spread of `spread`.
Measured side(double mean, double spread, int iterations = 40) {
  Measured measured;
  measured.path = "run.pitwall";
  measured.devices = {"cpu: Some CPU"};
  measured.items_per_iteration = 64;
  measured.steady_iterations = iterations;
  for (int i = 0; i < iterations; ++i)
    measured.iterations_ns.push_back(mean * (1 + spread * std::sin(i * 12.9898)));
  measured.shares = {{"forward", static_cast<TimeNs>(0.7 * mean) * iterations, 0.7},
                     {"idle", static_cast<TimeNs>(0.3 * mean) * iterations, 0.3}};
  measured.work["conv1 Convolution"] = {iterations, 0.5 * mean * iterations};
  measured.work["fc Dense"] = {iterations, 0.2 * mean * iterations};
  measured.settings = {{"OMP_NUM_THREADS", "4"}};
  return measured;
}

TEST(Noise, TheIntervalHoldsTheTruthAndNarrows) {
  const auto interval = [](int iterations) {
    const Measured a = side(10e6, 0.1, iterations), b = side(11e6, 0.1, iterations);
    return comparing::bootstrapChange(a.iterations_ns, b.iterations_ns);
  };
  const auto few = interval(40), many = interval(800), again = interval(800);
  EXPECT_LT(many.low, 0.1);
  EXPECT_GT(many.high, 0.1);
  EXPECT_LT(many.high - many.low, few.high - few.low);
  EXPECT_EQ(again.low, many.low);
}

TEST(Compare, TheSameRunHasNotChanged) {
  const Comparison comparison = compare(side(10e6, 0.05), side(10e6, 0.05));
  EXPECT_EQ(comparison.verdict, Comparability::comparable);
  EXPECT_EQ(comparison.change, 0);
  EXPECT_FALSE(comparison.isSignificant());
  EXPECT_FALSE(isRegression(comparison, 0));
  EXPECT_TRUE(comparison.settings.empty());
  EXPECT_THAT(comparisonAsText(comparison), HasSubstr("may be chance"));
}

TEST(Compare, ASlowdownBeyondTheNoiseIsARegression) {
  const Comparison comparison = compare(side(10e6, 0.05), side(12e6, 0.05));
  EXPECT_NEAR(comparison.change, 0.2, 0.001);
  EXPECT_TRUE(isRegression(comparison, 0.05));
  EXPECT_FALSE(isRegression(comparison, 0.25));
  EXPECT_FALSE(isRegression(compare(side(12e6, 0.05), side(10e6, 0.05)), 0));
  EXPECT_EQ(comparison.work.front().name, "conv1 Convolution");
  EXPECT_NEAR(comparison.work.front().b_ns - comparison.work.front().a_ns, 1e6, 1);
  EXPECT_THAT(comparisonAsText(comparison), HasSubstr("B is 20.0 % slower"));
}

TEST(Compare, NoiseIsNoRegression) {
  // Two per cent of change under a spread of forty.
  EXPECT_FALSE(isRegression(compare(side(10e6, 0.4, 12), side(10.2e6, 0.4, 12)), 0.01));
}

TEST(Compare, OtherHardwareIsNotComparable) {
  Measured other = side(10e6, 0.05);
  other.devices = {"cpu: Another CPU"};
  const Comparison comparison = compare(side(10e6, 0.05), other);
  EXPECT_EQ(comparison.verdict, Comparability::notComparable);
  EXPECT_THAT(comparisonAsText(comparison), HasSubstr("NOT COMPARABLE"));
  Measured ranks = side(10e6, 0.05);
  ranks.world_size = 2;
  EXPECT_EQ(compare(side(10e6, 0.05), ranks).verdict, Comparability::notComparable);
  Measured model = side(10e6, 0.05);
  model.work = {{"other", {1, 1}}};
  EXPECT_EQ(compare(side(10e6, 0.05), model).verdict, Comparability::notComparable);
}

TEST(Compare, AnotherBatchIsComparedByItem) {
  Measured large = side(20e6, 0.05);
  large.items_per_iteration = 128;
  const Comparison comparison = compare(side(10e6, 0.05), large);
  EXPECT_TRUE(comparison.by_item);
  EXPECT_NEAR(comparison.change, 0, 1e-9);
  EXPECT_NEAR(comparison.a_ns, 10e6 / 64, 1e3);
  EXPECT_NEAR(comparison.breakdown.front().a_ns, comparison.breakdown.front().b_ns, 1);
}

TEST(Compare, FewIterationsHaveNoInterval) {
  const Comparison comparison = compare(side(10e6, 0.05, 3), side(11e6, 0.05, 40));
  EXPECT_FALSE(comparison.has_interval);
  EXPECT_EQ(comparison.verdict, Comparability::withReservations);
  EXPECT_THAT(comparisonAsText(comparison), HasSubstr("too few iterations"));
}

TEST(Compare, SettingsThatDifferAreNamed) {
  Measured other = side(10e6, 0.05);
  other.settings = {{"OMP_NUM_THREADS", "8"}, {"OMP_PLACES", "cores"}};
  const Comparison comparison = compare(side(10e6, 0.05), other);
  ASSERT_EQ(comparison.settings.size(), 2U);
  EXPECT_EQ(comparison.settings[0].b, "8");
  EXPECT_THAT(comparisonAsMarkdown(comparison), HasSubstr("| OMP_PLACES | unset | cores |"));
}

}  // namespace
}  // namespace pitwall
