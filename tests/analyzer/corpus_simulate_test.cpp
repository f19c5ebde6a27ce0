// Simulation of real traces: what is predicted of a published pair, and how well unchanged traces replay.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/analysis/statistics.h"
#include "analyzer/simulate.h"
#include "db/import.h"
#include "tests/db/import/corpus.h"
#include "tests/support/temp_folder.h"

namespace pitwall::test::corpus_simulate_test {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<Simulator> simulatorOf(const std::string& input, const TempFolder& folder) {
  const auto path = folder / "t.pitwall";
  fs::remove(path);
  const std::vector<std::string> inputs{input};
  if (!importToFile(inputs, path).has_value()) return nullptr;
  auto trace = Trace::open(path);
  if (!trace.has_value()) return nullptr;
  auto simulator = Simulator::open(**trace);
  if (!simulator.has_value()) return nullptr;
  return std::make_unique<Simulator>(std::move(simulator).value());
}

// Removing all loading would say 106 ms: the workers take time from the program.
TEST(CorpusSimulation, FourWorkersForAProgramThatHadNone) {
  PITWALL_NEEDS_CORPUS();
  const TempFolder folder;
  const auto simulator = simulatorOf(corpusFolder() + "/kineto_tb/workers_0.pt.trace.json.gz", folder);
  ASSERT_NE(simulator, nullptr);
  ASSERT_TRUE(simulator->check().predictable) << simulator->check().why;
  const std::vector<std::string> changes{"workers=4"};
  const auto prediction = simulator->predict(changes);
  ASSERT_TRUE(prediction.has_value()) << prediction.error().message;
  constexpr double kMeasuredNs = 126.5e6;
  EXPECT_LE(static_cast<double>(prediction->low_ns), kMeasuredNs);
  EXPECT_GE(static_cast<double>(prediction->high_ns), kMeasuredNs);
  EXPECT_NEAR(static_cast<double>(prediction->middle_ns) / kMeasuredNs, 1, 0.08);
  EXPECT_LT(prediction->high_ns, simulator->check().recorded_ns);
}

TEST(CorpusSimulation, UnchangedTracesTakeTheRecordedTimeOrSayWhyNot) {
  PITWALL_NEEDS_CORPUS();
  const TempFolder folder;
  std::vector<double> errors;
  for (const char* kind :
       {"kineto_tb", "hta", "tracelens", "mxnet", "nsys", "onednn_generated", "onednn_snippets"}) {
    for (const auto& entry : fs::recursive_directory_iterator(corpusFolder() + "/" + kind)) {
      if (!entry.is_regular_file()) continue;
      const auto simulator = simulatorOf(entry.path().string(), folder);
      if (simulator == nullptr) continue;  // what cannot be imported is the importers' tests' matter
      SCOPED_TRACE(entry.path().string());
      const auto& check = simulator->check();
      EXPECT_EQ(check.predictable, check.why.empty()) << check.why;
      if (!check.predictable) continue;
      EXPECT_LE(std::fabs(check.error), 0.05);
      if (check.iteration_source != "whole trace") errors.push_back(std::fabs(check.error));
      const auto same = simulator->predict({});
      ASSERT_TRUE(same.has_value());
      EXPECT_NEAR(static_cast<double>(same->middle_ns), static_cast<double>(check.recorded_ns), 1);
      double share = 0;
      for (const auto& part : check.path.parts) share += part.share;
      EXPECT_NEAR(share, 1, 1e-9) << "the path is the whole time";
    }
  }
  EXPECT_GT(errors.size(), 15U);
  EXPECT_LE(analysis::quantile(errors, 0.5), 0.02);
}

}  // namespace
}  // namespace pitwall::test::corpus_simulate_test
