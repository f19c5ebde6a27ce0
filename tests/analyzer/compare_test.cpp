#include "analyzer/compare.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <cmath>

#include "analyzer/analysis.h"
#include "analyzer/compare/batch_shapes.h"
#include "analyzer/emit.h"
#include "db/store.h"
#include "tests/support/trace_text.h"

namespace pitwall::compare_test {
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

TEST(Compare, TheSameRunHasNotChanged) {
  const Comparison comparison = compare(side(10e6, 0.05), side(10e6, 0.05));
  EXPECT_EQ(comparison.verdict, Comparability::comparable);
  EXPECT_EQ(comparison.change, 0);
  EXPECT_FALSE(comparison.isSignificant());
  EXPECT_EQ(checkRegression(comparison, 0), RegressionCheck::none);
  EXPECT_TRUE(comparison.settings.empty());
  EXPECT_TRUE(comparison.same_recording);
  EXPECT_THAT(comparisonAsText(comparison), HasSubstr("A and B are the same recording"));
  const Comparison another = compare(side(10e6, 0.05), side(10.001e6, 0.05));
  EXPECT_FALSE(another.same_recording);
  EXPECT_THAT(comparisonAsText(another, {.width = 400}),
              HasSubstr("One run each: not distinguishable from run-to-run variation (typically "));
}

TEST(Compare, WhatTheHardwareIsMustBeKnownToBeTheSame) {
  const auto verdict = [](std::vector<std::string> left, std::vector<std::string> right) {
    Measured a = side(10e6, 0.05), b = side(11e6, 0.05);
    a.devices = std::move(left), b.devices = std::move(right);
    return compare(a, b).verdict;
  };
  EXPECT_EQ(verdict({"cpu: X", "gpu: Y"}, {"cpu: X", "gpu: Y"}), Comparability::comparable);
  EXPECT_EQ(verdict({}, {}), Comparability::withReservations) << "neither gives it";
  EXPECT_EQ(verdict({"gpu"}, {"gpu"}), Comparability::withReservations) << "nameless";
  EXPECT_EQ(verdict({"gpu: Y"}, {"gpu"}), Comparability::withReservations);
  EXPECT_EQ(verdict({"cpu: unknown", "gpu: Y"}, {"gpu: Y"}), Comparability::comparable);
  EXPECT_EQ(verdict({"cpu: X", "gpu: Y"}, {"gpu: Y"}), Comparability::withReservations);
  EXPECT_EQ(verdict({"gpu: Y"}, {"gpu: Z"}), Comparability::notComparable);
  EXPECT_EQ(verdict({"gpu", "gpu"}, {"gpu"}), Comparability::notComparable);
}

TEST(Compare, TimesOfCountedKernelsAreNotCompared) {
  Measured a = side(10e6, 0.05), b = side(11e6, 0.05);
  a.devices = b.devices = {"cpu: X", "gpu: Y"};
  EXPECT_EQ(compare(a, b).verdict, Comparability::comparable);
  b.serialised_kernels = true;
  EXPECT_EQ(compare(a, b).verdict, Comparability::notComparable);
}

TEST(Compare, WithoutIterationsTheWholesAreComparedAndNothingIsARegression) {
  const auto whole = [](double ns) {
    Measured measured = side(ns, 0, 1);
    measured.whole_ns = ns;
    measured.iterations_ns.clear();
    measured.items_per_iteration = 0;
    return measured;
  };
  const Comparison wholes = compare(whole(10e6), whole(15e6));
  EXPECT_TRUE(wholes.by_recording);
  EXPECT_EQ(wholes.verdict, Comparability::withReservations);
  EXPECT_NEAR(wholes.change, 0.5, 1e-9);
  EXPECT_EQ(checkRegression(wholes, 0.05), RegressionCheck::notComparable)
      << "one run each says nothing about chance";
  EXPECT_THAT(comparisonAsText(wholes, {.width = 200}), HasSubstr("The whole of A takes 10.0 ms"));
  EXPECT_NEAR(wholes.breakdown.front().b_ns, 0.7 * 15e6, 1);

  const Comparison mixed = compare(whole(10e6), side(10e6, 0.05));
  EXPECT_EQ(mixed.verdict, Comparability::notComparable);
  EXPECT_TRUE(mixed.breakdown.empty() && mixed.work.empty()) << "a whole is not compared with an iteration";
  EXPECT_THAT(comparisonAsText(mixed), HasSubstr("Only B has steady iterations"));
}

TEST(Compare, OneRunEachOnlyTellsWhatNoRunToRunVariationExplains) {
  const Comparison slight = compare(side(10e6, 0.05), side(12e6, 0.05));
  EXPECT_NEAR(slight.change, 0.2, 0.001);
  EXPECT_EQ(slight.basis, Comparison::Basis::assumed);
  EXPECT_FALSE(slight.isSignificant());
  EXPECT_EQ(checkRegression(slight, 0.05), RegressionCheck::undecided)
      << "it looks slower: not to be passed over";
  EXPECT_EQ(checkRegression(slight, 0.25), RegressionCheck::none);
  EXPECT_THAT(comparisonAsText(slight, {.width = 400}),
              HasSubstr("+20.0 %. One run each: not distinguishable"));
  const Comparison large = compare(side(10e6, 0.05), side(20e6, 0.05));
  EXPECT_EQ(checkRegression(large, 0.05), RegressionCheck::regression);
  EXPECT_THAT(comparisonAsText(large, {.width = 400}),
              HasSubstr("B is 100 % slower. One run each: more than"));
  EXPECT_EQ(checkRegression(compare(side(20e6, 0.05), side(10e6, 0.05)), 0), RegressionCheck::none);
  EXPECT_EQ(slight.work.front().name, "conv1 Convolution");
  EXPECT_NEAR(slight.work.front().b_ns - slight.work.front().a_ns, 1e6, 1);
  for (const auto& row : large.work) EXPECT_FALSE(row.has_interval) << "no row of one run each is tested";
  EXPECT_THAT(comparisonAsText(large, {.width = 400}), HasSubstr("needs at least three runs of each side"));
}

TEST(Compare, ARunThatChangesWhileItRunsWidensTheInterval) {
  Measured restless = side(17e6, 0.05);
  for (std::size_t i = 0; i < restless.iterations_ns.size(); ++i)
    restless.iterations_ns[i] *= i < 10 ? 1.6 : 1;  // something else ran on the machine for a quarter of it
  EXPECT_TRUE(compare(side(10e6, 0.05), side(17e6, 0.05)).isSignificant());
  EXPECT_FALSE(compare(side(10e6, 0.05), restless).isSignificant());
}

TEST(Compare, OutliersThatContradictTheMediansAreNotHidden) {
  Measured a = side(10e6, 0.05), b = side(12e6, 0.05);
  a.mean_with_outliers_ns = 10e6, b.mean_with_outliers_ns = 12e6;
  EXPECT_THAT(comparisonAsText(compare(a, b), {.width = 300}), testing::Not(HasSubstr("with outliers")));
  a.outliers = 9, a.mean_with_outliers_ns = 40e6;
  const std::string text = comparisonAsText(compare(a, b), {.width = 400});
  EXPECT_THAT(
      text,
      HasSubstr(
          "with outliers (9 in A, 0 in B), which medians leave out: 40.0 ms in A and 12.0 ms in B, -70.0 %"));
  EXPECT_THAT(text, HasSubstr("The two contradict each other"));
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

// A small convolutional network as the analysis names its operators.
Measured network(int batch, int filters = 20) {
  Measured measured = side(10e6 * batch / 64, 0.05);
  measured.items_per_iteration = batch;
  measured.work.clear();
  const auto add = [&](const std::string& operation, const std::string& shapes) {
    measured.work[operation + " " + shapes] = {40, 1e6 * batch, operation, shapes};
  };
  add("conv1 Convolution forward", fmt::format("{0}x1x28x28,{1}x1x5x5->{0}x{1}x24x24", batch, filters));
  add("pool1 Pooling forward", fmt::format("{0}x{1}x24x24->{0}x{1}x12x12", batch, filters));
  add("fc1 FullyConnected forward", fmt::format("{0}x{1},500x{1}->{0}x500", batch, filters * 144));
  add("fc1 FullyConnected backward", fmt::format("{}x500->500x{}", batch, filters * 144));
  add("fc1_weight sgd_update update", fmt::format("500x{}", filters * 144));
  return measured;
}

TEST(Compare, TheSameNetworkWithAnotherBatchIsComparedByItem) {
  const Comparison comparison = compare(network(32), network(64));
  EXPECT_EQ(comparison.verdict, Comparability::withReservations);
  EXPECT_TRUE(comparison.by_item);
  EXPECT_NEAR(comparison.change, 0, 1e-9);
  ASSERT_EQ(comparison.work.size(), 5U) << "each operator once, not once for each batch";
  for (const auto& change : comparison.work) EXPECT_NEAR(change.a_ns, change.b_ns, 1) << change.name;
  const std::string text = comparisonAsText(comparison, {.width = 600});
  EXPECT_THAT(text, HasSubstr("batch 32 against 64: items a second are compared"));
  EXPECT_THAT(text, HasSubstr("The batches differ, so iterations are not compared"));
  EXPECT_THAT(text, HasSubstr("5 in both, 4 of them the same except for the batch in their shapes"));
  EXPECT_THAT(comparisonAsJson(comparison),
              HasSubstr("conv1 Convolution forward Nx1x28x28,20x1x5x5->Nx20x24x24"));
}

TEST(Compare, AnotherNetworkIsNotTheSameWithAnotherBatch) {
  // Only the update of the last layer's weights could be shared, and that has other shapes too.
  EXPECT_EQ(compare(network(64), network(64, 50)).verdict, Comparability::notComparable);
  EXPECT_EQ(compare(network(32), network(64, 50)).verdict, Comparability::notComparable);
  // Near misses: twice the filters with the same batch; names of other layers with the same shapes.
  EXPECT_EQ(compare(network(64), network(64, 40)).verdict, Comparability::notComparable);
  Measured renamed = network(64);
  renamed.work.clear();
  for (const auto& [name, work] : network(64).work) {
    renamed.work["block_" + name] = {work.count, work.total_ns, "block_" + work.operation, work.shapes};
  }
  EXPECT_EQ(compare(network(32), renamed).verdict, Comparability::notComparable);
}

TEST(Compare, ABatchThatOnlyTheShapesTellIsNamedAndNotCompared) {
  Measured a = network(32), b = network(64);
  a.items_per_iteration = b.items_per_iteration = 0;
  const Comparison comparison = compare(a, b);
  EXPECT_EQ(comparison.verdict, Comparability::notComparable);
  EXPECT_THAT(comparisonAsText(comparison, {.width = 300}), HasSubstr("B's batch is 2 times A's"));
  EXPECT_EQ(comparison.work.size(), 5U);
  b = network(32);
  b.items_per_iteration = 0;
  EXPECT_EQ(compare(a, b).verdict, Comparability::comparable) << "the same shapes: the same batch";
}

TEST(BatchShapes, OnlyNumbersThatDifferAsTheBatchesDo) {
  using comparing::sameButForBatch;
  EXPECT_EQ(sameButForBatch("64x1x28", "32x1x28", {64, 32}), "Nx1x28");
  EXPECT_EQ(sameButForBatch("1280x28", "640x28", {64, 32}), "Nx28") << "batch times channels";
  EXPECT_EQ(sameButForBatch("64x1x28", "32x1x29", {64, 32}), "");
  EXPECT_EQ(sameButForBatch("64x1x28", "32x1", {64, 32}), "");
  EXPECT_EQ(sameButForBatch("64x1x28", "64x1x28", {64, 32}), "") << "nothing differs";
  EXPECT_EQ(sameButForBatch("64,1", "32x1", {64, 32}), "");
  EXPECT_EQ(sameButForBatch("64x1", "16x1", {64, 32}), "");
  EXPECT_EQ(sameButForBatch("64x1", "32x1", {}), "");
}

TEST(Compare, FewIterationsHaveNoInterval) {
  const Comparison comparison = compare(side(10e6, 0.05, 3), side(11e6, 0.05, 40));
  EXPECT_FALSE(comparison.hasInterval());
  EXPECT_EQ(comparison.verdict, Comparability::withReservations);
  EXPECT_THAT(comparisonAsText(comparison, {.width = 200}), HasSubstr("too few iterations"));
}

TEST(Compare, SettingsThatDifferAreNamed) {
  Measured other = side(10e6, 0.05);
  other.settings = {{"OMP_NUM_THREADS", "8"}, {"OMP_PLACES", "cores"}};
  const Comparison comparison = compare(side(10e6, 0.05), other);
  ASSERT_EQ(comparison.settings.size(), 2U);
  EXPECT_EQ(comparison.settings[0].b, "8");
  EXPECT_THAT(comparisonAsMarkdown(comparison), HasSubstr("| OMP_PLACES | unset | cores |"));
}

Measured measuredText(const std::string& text, const std::string& name) {
  const std::string path = testing::TempDir() + name + ".pitwall";
  EXPECT_TRUE(test::makeTraceFile(text, path).has_value());
  auto trace = Trace::open(path);
  AnalyzeOptions options;
  options.rule_folders = {PITWALL_RULE_FOLDER};
  const auto report = analyzeTrace(*trace.value(), options);
  return measure(*trace.value(), report.value()).value();
}

// What a shell or launcher sets for each run is no setting of the program, and a setting is named once.
TEST(Compare, VariablesThatNameTheRunAreNoSettings) {
  const auto measured = measuredText(
      "meta environment.PITWALL_TRACE /tmp/a.pitwall\n"
      "meta environment.SHLVL 2\n"
      "meta environment.OMPI_COMM_WORLD_RANK 1\n"
      "meta environment.OMPI_COMM_WORLD_SIZE 4\n"
      "meta environment.OMPI_MCA_ess_base_jobid 41615361\n"
      "meta environment.OMPI_MCA_btl tcp,self\n"
      "meta environment.PMIX_SERVER_URI2 41615360.0\n"
      "meta environment.SLURM_JOB_ID 17\n"
      "meta environment.SLURM_JOB_NODELIST node[1-4]\n"
      "meta environment.SLURM_CPUS_PER_TASK 8\n"
      "meta environment.OMP_NUM_THREADS 8\n"
      "setting OMP_NUM_THREADS 8 environment\n"
      "setting PITWALL_TRACE /tmp/a.pitwall environment\n"
      "meta environment.MY_OPTION 1\n"
      "iteration 0 1\n",
      "run_variables");
  std::vector<std::string> names;
  for (const auto& [name, value] : measured.settings) names.push_back(name);
  EXPECT_THAT(names, testing::ElementsAre("OMP_NUM_THREADS", "environment.MY_OPTION",
                                          "environment.OMPI_COMM_WORLD_SIZE", "environment.OMPI_MCA_btl",
                                          "environment.SLURM_CPUS_PER_TASK"));
}

TEST(Compare, OfOperatorsWithinEachOtherTheOneThatChangedIsNamed) {
  const auto measured = [](int inner_us) {
    return measuredText(
        fmt::format("repeat 20 200us\niteration 0 1\nop - conv2d none 1us {}us on=main\n"
                    "op - cudnn none 2us {}us on=main\nop - relu none 180us 10us on=main\nend\n",
                    inner_us + 8, inner_us),
        fmt::format("nested_{}", inner_us));
  };
  const Comparison comparison = compare(measured(80), measured(120));
  ASSERT_FALSE(comparison.work.empty());
  EXPECT_EQ(comparison.work[0].name, "cudnn");
  EXPECT_NEAR(comparison.work[0].b_ns - comparison.work[0].a_ns, 40'000, 1);
  for (std::size_t i = 1; i < comparison.work.size(); ++i)
    EXPECT_EQ(comparison.work[i].a_ns, comparison.work[i].b_ns) << comparison.work[i].name;
}

// Logs of one call, so long that iterations are several of them, twice as many in one as in the other.
TEST(Compare, ACallThatRepeatsVeryOftenIsComparedCallByCall) {
  const auto measured = [](int calls, const char* length) {
    return measuredText(fmt::format("repeat {} 10us\nop - convolution none 0 {}\nend\n", calls, length),
                        fmt::format("calls_{}", calls));
  };
  const Measured a = measured(1 << 15, "6us"), b = measured(1 << 16, "9us");
  EXPECT_EQ(a.iterations_ns.size(), b.iterations_ns.size());
  for (const auto* side : {&a, &b}) {
    for (const double ns : side->iterations_ns) ASSERT_EQ(ns, 10'000);
  }
  const Comparison comparison = compare(a, b);
  EXPECT_EQ(comparison.change, 0);
  ASSERT_EQ(comparison.work.size(), 1U);
  EXPECT_NEAR(comparison.work[0].a_ns, 6000, 1e-6);
  EXPECT_NEAR(comparison.work[0].b_ns, 9000, 1e-6);
}

}  // namespace
}  // namespace pitwall::compare_test
