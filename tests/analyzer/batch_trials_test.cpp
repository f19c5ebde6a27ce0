// Batch sizes that were tried, and what lines through operators' times predict.
#include "analyzer/analysis/batch_trials.h"

#include <gtest/gtest.h>

#include "analyzer/analysis.h"
#include "db/reader.h"
#include "tests/support/temp_folder.h"
#include "tests/support/trace_text.h"

namespace pitwall::analysis::batch_trials_test {
namespace {

BatchTrial trial(std::int64_t batch, double convolution, double update) {
  return {batch, convolution + update + 100, {{"conv", convolution}, {"update", update}}};
}

const BatchTime* timeOf(const std::vector<BatchTime>& times, std::int64_t batch) {
  for (const auto& time : times) {
    if (time.batch == batch) return &time;
  }
  return nullptr;
}

TEST(BatchTimes, ALineThroughThreeTrialsPredictsTheNext) {
  const auto times = batchTimes({trial(16, 1600, 500), trial(32, 3200, 500), trial(8, 800, 500)});
  ASSERT_NE(timeOf(times, 64), nullptr);
  EXPECT_FALSE(timeOf(times, 64)->is_measured);
  EXPECT_NEAR(timeOf(times, 64)->iteration_ns, 6400 + 500 + 100, 1);
  EXPECT_LT(timeOf(times, 64)->low_ns, 7000);
  EXPECT_GT(timeOf(times, 64)->high_ns, 7000);
  EXPECT_TRUE(timeOf(times, 32)->is_measured);
  EXPECT_EQ(timeOf(times, 128), nullptr) << "more than twice what was tried";
}

TEST(BatchTimes, TwoTrialsPredictNothing) {
  const auto times = batchTimes({trial(16, 1600, 500), trial(32, 3200, 500)});
  EXPECT_EQ(times.size(), 2U);
  for (const auto& time : times) EXPECT_TRUE(time.is_measured);
}

TEST(BatchTimes, TimesThatFitNoLineWidenTheInterval) {
  const auto straight = batchTimes({trial(16, 1600, 500), trial(32, 3200, 500), trial(8, 800, 500)});
  const auto bent = batchTimes({trial(16, 1600, 500), trial(32, 5200, 500), trial(8, 800, 500)});
  const auto width = [](const BatchTime& time) { return (time.high_ns - time.low_ns) / time.iteration_ns; };
  EXPECT_GT(width(*timeOf(bent, 64)), 2 * width(*timeOf(straight, 64)));
}

TEST(BatchTimes, TheOperatorThatLeavesTheCacheIsNamed) {
  const auto times = batchTimes({trial(16, 1600, 500), trial(64, 11200, 500)});
  EXPECT_EQ(timeOf(times, 64)->slower, "conv");
  EXPECT_NEAR(timeOf(times, 64)->slower_ns, 75, 0.1);
  EXPECT_EQ(timeOf(times, 16)->slower, "");
}

// A program that iterates on `batch` items: an update of 2 ms, and 100 us (or more) an item.
std::string program(int batch, int item_us) {
  return "meta trace.producer pitwall 0.1.0\nmeta process.openmp_threads 2\nmeta host.memory_bytes "
         "8000000000\n"
         "meta runtime.engine ThreadedEnginePerDevice\nmeta runtime.peak_bytes 40000000\n"
         "tunable batch_size " +
         std::to_string(batch) + " 8 512 program\nrepeat 12 20ms\n  iteration 0 " + std::to_string(batch) +
         "\n  op conv1 Convolution forward 0us " + std::to_string(batch * item_us) +
         "us\n  op conv1 sgd_update update " + std::to_string(batch * item_us) + "us 2ms\nend\n";
}

// Iterations of the text last 20 ms regardless of their content: only the table is tested.
TEST(BatchTrials, AreNoTrialsOfThreads) {
  const test::TempFolder folder;
  ASSERT_TRUE(test::makeTraceFile(program(16, 100), folder / "own.pitwall").has_value());
  ASSERT_TRUE(test::makeTraceFile(program(32, 100), folder / "more.pitwall").has_value());
  auto own = Trace::open(folder / "own.pitwall");
  auto more = Trace::open(folder / "more.pitwall");
  ASSERT_TRUE(own.has_value() && more.has_value());
  AnalyzeOptions options;
  options.trials.push_back({"more.pitwall", more.value().get()});
  ASSERT_TRUE(analyzeTrace(*own.value(), options).has_value());
  const auto batches = own.value()->query("SELECT batch FROM analysis_batch ORDER BY batch");
  ASSERT_TRUE(batches.has_value());
  ASSERT_EQ(batches.value().rows.size(), 2U);
  EXPECT_EQ(std::get<std::int64_t>(batches.value().rows[1][0]), 32);
  const auto threads = own.value()->query("SELECT threads FROM analysis_thread_trial");
  ASSERT_TRUE(threads.has_value());
  EXPECT_EQ(threads.value().rows.size(), 1U) << "another batch size says nothing about threads";
  const auto former = own.value()->query("SELECT threads FROM analysis_probe");
  ASSERT_TRUE(former.has_value()) << "the table's former name";
  EXPECT_EQ(former.value().rows, threads.value().rows);
}

}  // namespace
}  // namespace pitwall::analysis::batch_trials_test
