#include "analyzer/analysis/operators.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "analyzer/analysis.h"
#include "analyzer/analysis/samples.h"
#include "analyzer/analysis/sorted_times.h"
#include "analyzer/analysis/statistics.h"
#include "tests/support/temp_folder.h"
#include "tests/support/trace_text.h"

namespace pitwall::analysis::operators_test {
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

TEST(Samples, AgreeWithTheSortedList) {
  constexpr double kQuantiles[] = {0, 0.1, 0.5, 0.9, 0.99, 1};
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937_64 random(seed);
    const std::int64_t spread = std::int64_t{1} << (seed % 20);
    std::vector<double> list;
    Samples samples;
    for (unsigned i = 0; i < 1 + seed * 50; ++i) {
      const auto value =
          static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(spread)) - spread / 3;
      list.push_back(static_cast<double>(value));
      samples.add(value);
    }
    EXPECT_EQ(samples.count(), static_cast<std::int64_t>(list.size()));
    EXPECT_EQ(static_cast<double>(samples.sum()), std::accumulate(list.begin(), list.end(), 0.0));
    EXPECT_EQ(samples.mean(), mean(list));
    std::sort(list.begin(), list.end());
    const auto quantiles = samples.quantiles(kQuantiles);
    for (std::size_t q = 0; q < quantiles.size(); ++q)
      EXPECT_EQ(quantiles[q], quantileOfSorted(list, kQuantiles[q])) << seed << " " << kQuantiles[q];
  }
  EXPECT_EQ(Samples().quantile(0.5), 0);
  EXPECT_EQ(Samples().mean(), 0);
}

TEST(SortedTimes, ComeInOrderHoweverTheRunsOverlap) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<TimeNs> list;
    SortedTimes times;
    for (unsigned run = 0; run < seed; ++run) {
      for (auto i = random() % 60; i > 0; --i) {
        const auto reach = random() % 7 == 0 ? std::uint64_t{1} << 62 : 3000;
        const auto time = static_cast<TimeNs>(run * 1000 + random() % reach) - 2000;
        list.push_back(time);
        times.add(time);
      }
      times.endRun();
    }
    std::sort(list.begin(), list.end());
    ASSERT_EQ(times.count(), static_cast<std::int64_t>(list.size()));
    SortedTimes::Cursor cursor(times);
    TimeNs time = 0;
    for (const TimeNs expected : list) {
      ASSERT_TRUE(cursor.next(time));
      ASSERT_EQ(time, expected) << seed;
    }
    EXPECT_FALSE(cursor.next(time));
  }
}

OperatorTable tabulated(std::span<const OperatorInterval> operators, std::span<const Iteration> iterations,
                        std::span<const OperatorFacts> facts) {
  OperatorSums sums(iterations, facts.size());
  const std::size_t half = operators.size() / 2;
  sums.add(operators.first(half));
  sums.add(operators.subspan(half));
  return sums.table(facts);
}

// Rows of analysis_operator of a trace: "NAME total self device" in us, as the report orders them.
std::string rowsOf(const std::string& text, TimeNs* outside = nullptr, std::size_t at_once = 0) {
  const test::TempFolder folder;
  EXPECT_TRUE(test::makeTraceFile(text, folder / "t.pitwall").has_value());
  auto trace = Trace::open(folder / "t.pitwall");
  EXPECT_TRUE(trace.has_value());
  AnalyzeOptions options{.rule_folders = {PITWALL_RULE_FOLDER}};
  if (at_once > 0) options.events_at_once = at_once;
  const auto report = analyzeTrace(**trace, options);
  EXPECT_TRUE(report.has_value());
  std::string rows;
  for (const auto& row : report.value().operators) {
    rows += row.name + " " + std::to_string(row.total_ns / 1000) + " " + std::to_string(row.self_ns / 1000) +
            " " + std::to_string(row.device_ns / 1000) + "\n";
  }
  const bool any_device = std::any_of(report->operators.begin(), report->operators.end(),
                                      [](const OperatorRow& row) { return row.device_ns > 0; });
  EXPECT_EQ(report->operator_order, any_device ? OperatorOrder::deviceTime : OperatorOrder::selfTime);
  const auto order = report->operator_order;
  EXPECT_TRUE(std::is_sorted(report->operators.begin(), report->operators.end(),
                             [order](const OperatorRow& a, const OperatorRow& b) {
                               return a.orderedBy(order) > b.orderedBy(order);
                             }));
  if (outside != nullptr) *outside = report.value().device_outside_operators_ns;
  return rows;
}

TEST(Operators, WithinOthersCountOnce) {
  EXPECT_EQ(rowsOf("op - conv2d none 10us 100us on=main\n"
                   "op - convolution none 20us 60us on=main\n"
                   "op - cudnn none 30us 40us on=main\n"
                   "op - add none 85us 20us on=main\n"
                   "op - conv2d none 200us 10us on=main\n"
                   "op - cudnn none 35us 50us on=other\n"),
            "cudnn 90 90 0\nconv2d 110 30 0\nconvolution 60 20 0\nadd 20 20 0\n")
      << "another thread's operators are beside, not within";
}

TEST(Operators, HaveTheDeviceWorkThatTheyLaunch) {
  const std::string text =
      "op - linear none 10us 100us on=main\n"
      "op - addmm none 20us 50us on=main\n"
      "work kernel gemm 200us 400us launch=30us\n"
      "work kernel epilogue 600us 30us launch=65us\n"  // its call ends when addmm ends
      "work kernel bias 630us 7us launch=90us\n"
      "work kernel stray 700us 11us launch=150us\n"
      "work kernel early 5us 2us\n";
  const std::string expected = "addmm 50 50 430\nlinear 100 50 7\n";
  TimeNs outside = 0;
  EXPECT_EQ(rowsOf(text, &outside), expected);
  EXPECT_EQ(outside, 13'000) << "launched between operators, and without a launch in the trace";
  EXPECT_EQ(rowsOf(text + "work kernel theirs 800us 90us launch=750us rank=1\n", &outside), expected);
  EXPECT_EQ(outside, 13'000) << "another rank's does not belong to this process";
  EXPECT_EQ(rowsOf(text, nullptr, 2), expected) << "however few events are read at a time";
}

TEST(Operators, HaveWorkThatCallsOnAnotherTrackOfTheirThreadLaunch) {
  EXPECT_EQ(rowsOf("op - linear none 10us 100us on=pt_autograd_0\n"
                   "op - addmm none 20us 50us on=pt_autograd_0\n"
                   "work kernel gemm 200us 400us launch=30us calls=calls_of_pt_autograd_0\n"
                   "work kernel bias 630us 7us launch=90us calls=calls_of_pt_autograd_0\n"
                   "work kernel other 640us 3us launch=30us calls=other\n"),
            "addmm 50 50 400\nlinear 100 50 7\n");
}

TEST(Operators, HaveWorkThatADependencyJoinsToThem) {
  const std::string text =
      "op a Convolution forward 10us 8us on=gpu0_worker_0\n"
      "op b sgd_mom_update update 10us 900us on=gpu_0_asynchronous\n"
      "op c Pooling forward 20us 8us on=gpu0_worker_0\n"
      "work kernel conv 200us 400us launch=12us of=a calls=calls_of_gpu0_worker_0\n"
      "work kernel sgd 700us 50us launch=22us of=b calls=calls_of_gpu0_worker_0\n"
      "work kernel sgd 760us 50us launch=30us of=b calls=calls_of_gpu0_worker_0\n"
      "work kernel pool 900us 30us launch=24us of=c calls=calls_of_gpu0_worker_0\n";
  const std::string expected = "Convolution 8 8 400\nsgd_mom_update 900 900 100\nPooling 8 8 30\n";
  TimeNs outside = -1;
  EXPECT_EQ(rowsOf(text, &outside), expected) << "what completes later is on no thread";
  EXPECT_EQ(outside, 0);
  EXPECT_EQ(rowsOf(text, nullptr, 2), expected) << "however few events are read at a time";
}

TEST(Operators, RatesAreOfTheDevicesTime) {
  const test::TempFolder folder;
  ASSERT_TRUE(
      test::makeTraceFile("op a Convolution forward 10us 8us on=w backend=cuda flop=400000 read=4000\n"
                          "op b Copy forward 30us 8us on=w backend=cuda flop=80000\n"
                          "op c Sum forward 50us 8us on=w backend=onednn flop=16000\n"
                          "work kernel conv 200us 400us launch=12us calls=calls_of_w\n",
                          folder / "t.pitwall")
          .has_value());
  auto trace = Trace::open(folder / "t.pitwall");
  ASSERT_TRUE(trace.has_value());
  const auto report = analyzeTrace(**trace, {.rule_folders = {PITWALL_RULE_FOLDER}});
  ASSERT_TRUE(report.has_value());
  ASSERT_EQ(report->operators.size(), 3U);
  EXPECT_NEAR(report->operators[0].flop_per_second, 1e9, 1);
  EXPECT_NEAR(report->operators[0].bytes_per_second, 1e7, 1);
  for (const auto& row : report->operators) {
    const double expected = row.layer == "a" ? 1e9 : row.layer == "c" ? 2e9 : 0;
    EXPECT_NEAR(row.flop_per_second, expected, 1)
        << row.layer << ": the host computes c, no kernel of b is known";
  }
}

TEST(Operators, WorkOutsideOfThemCountsInSteadyIterationsOnly) {
  TimeNs outside = 0;
  rowsOf(
      "work copy Memcpy~HtoD 1us 900us launch=0\n"
      "repeat 10 2ms\niteration 1ms 1\nop a Convolution forward 1100us 8us\n"
      "work kernel stray 1500us 10us launch=1400us\nend\n",
      &outside);
  EXPECT_EQ(outside, 70'000) << "of 10 iterations two are warm-up, and the last one is cut";
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
  std::vector<OperatorInterval> operators;
  std::vector<Iteration> iterations;
  for (int i = 0; i < 10; ++i) {
    const TimeNs start = i * 1000;
    iterations.push_back({i, start, start + 1000, 0, i < 2 ? IterationRole::warmUp : IterationRole::steady});
    operators.push_back({start, start + (i < 2 ? 900 : 100 + i), start - 10, 0, OperatorId{1}});
    operators.push_back({start + 950, start + 960, start, 0, OperatorId{2}});
  }
  const auto table = tabulated(operators, iterations, facts);
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
  const std::vector<OperatorInterval> operators = {{0, 10, 0, 1, OperatorId{}},
                                                   {10, 30, 10, 2, OperatorId{7}}};
  const Iteration iteration{0, 0, 100};
  const auto table = tabulated(operators, {&iteration, 1}, {});
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows[0].row.name, "operator");
  EXPECT_EQ(table.rows[0].row.count, 2);
}

}  // namespace
}  // namespace pitwall::analysis::operators_test
