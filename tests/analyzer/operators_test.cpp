#include "analyzer/analysis/operators.h"

#include <gtest/gtest.h>

#include "analyzer/analysis/statistics.h"

namespace pitwall::analysis {
namespace {

TEST(Statistics, QuantilesInterpolate) {
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile({1, 2, 3}, 0), 1);
  EXPECT_DOUBLE_EQ(quantile({1, 2, 3}, 1), 3);
  EXPECT_DOUBLE_EQ(quantile({}, 0.5), 0);
}

TEST(Statistics, VariationIsSampleDeviationOverMean) {
  EXPECT_NEAR(coefficientOfVariation({90, 100, 110}), 0.1, 1e-12);
  EXPECT_EQ(coefficientOfVariation({5}), 0);
}

TEST(Operators, CountsOnlySteadyIterations) {
  std::vector<OperatorFacts> facts(2);
  facts[0].name = "Convolution";
  facts[0].layer = "conv1";
  facts[0].phase = Phase::forward;
  facts[0].flop = 1000;
  facts[0].bytes_read = 300;
  facts[0].bytes_written = 100;
  facts[1].name = "Activation";
  Timeline timeline;
  std::vector<Iteration> iterations;
  for (int i = 0; i < 10; ++i) {
    const TimeNs start = i * 1000;
    iterations.push_back({i, start, start + 1000, 0, i < 2 ? IterationRole::warmUp : IterationRole::steady});
    timeline.operators.push_back({start, start + (i < 2 ? 900 : 100 + i), start - 10, 0, OperatorId{1}});
    timeline.operators.push_back({start + 950, start + 960, start, 0, OperatorId{2}});
  }
  const auto table = tabulateOperators(timeline, iterations, facts);
  ASSERT_EQ(table.rows.size(), 2U);
  const auto& conv = table.rows[0];
  EXPECT_EQ(conv.row.layer, "conv1");
  EXPECT_EQ(conv.row.phase, "forward");
  EXPECT_EQ(conv.row.count, 8);
  EXPECT_EQ(conv.row.total_ns, 102 + 103 + 104 + 105 + 106 + 107 + 108 + 109);
  EXPECT_EQ(conv.row.mean_ns, 105);
  EXPECT_EQ(conv.row.p50_ns, 105);
  EXPECT_EQ(conv.min_ns, 102);
  EXPECT_EQ(conv.queued_mean_ns, 10);
  EXPECT_NEAR(conv.row.flop_per_second, 8 * 1000 / 844e-9, 1);
  EXPECT_NEAR(conv.row.bytes_per_second, 8 * 400 / 844e-9, 1);
  EXPECT_EQ(table.total_ns, 844 + 80);
  EXPECT_NEAR(conv.row.share, 844.0 / 924, 1e-12);
}

TEST(Operators, WithoutFactsAreCountedTogether) {
  Timeline timeline;
  timeline.operators = {{0, 10, 0, 1, OperatorId{}}, {10, 30, 10, 2, OperatorId{7}}};
  const Iteration iteration{0, 0, 100};
  const auto table = tabulateOperators(timeline, {&iteration, 1}, {});
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows[0].row.name, "operator");
  EXPECT_EQ(table.rows[0].row.count, 2);
}

}  // namespace
}  // namespace pitwall::analysis
