// What mxnet.profiler.dumps() prints of published trainings: their communication, and what is found.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/analyzer/analyzed.h"

namespace pitwall::test::mxnet_dumps_test {
namespace {

std::unique_ptr<Analyzed> analyzeText(const std::string& text) {
  const auto input =
      std::filesystem::path(testing::TempDir()) / fmt::format("pitwall-dumps-{}.txt", getpid());
  std::ofstream(input) << text;
  auto result = analyzeFiles({input.string()});
  std::filesystem::remove(input);
  return result;
}

// What mxnet.profiler.dumps() prints, of rows "name milliseconds"; each ran 500 times.
std::string dumps(const std::vector<std::pair<std::string, double>>& rows) {
  std::string text =
      "\nProfile Statistics:\n\tNote the difference in units for different "
      "entries.\noperator\n=================\n";
  text += fmt::format("{:<40}{:>16}{:>16}{:>16}{:>16}{:>16}\n", "Name", "Total Count", "Time (ms)",
                      "Min Time (ms)", "Max Time (ms)", "Avg Time (ms)");
  text += fmt::format("{:<40}{:>16}{:>16}{:>16}{:>16}{:>16}\n", "----", "-----------", "---------",
                      "-------------", "-------------", "-------------");
  for (const auto& [name, ms] : rows)
    text += fmt::format("{:<40}{:>16}{:>16.4f}{:>16.4f}{:>16.4f}{:>16.4f}\n", name, 500, ms, 0.0, ms / 250,
                        ms / 500);
  return text;
}

struct SeedTable {
  const char* what;
  std::vector<std::pair<std::string, double>> rows;
  double communication, with_reduce;
};

const SeedTable kTrainings[] = {{"1 GPU",
                                 {{"WaitForVar", 25.475},
                                  {"CopyCPU2GPU", 69.975},
                                  {"SyncCopyCPU2GPU", 38354.1},
                                  {"CopyGPU2GPU", 36198.746},
                                  {"SyncCopyGPU2CPU", 54909.424},
                                  {"DeleteVariable", 5.367},
                                  {"[FullyConnected,Activation]", 24724.46},
                                  {"_zeros", 20.251},
                                  {"[_backward_Activation]", 1496.502},
                                  {"_backward_FullyConnected", 15115.844},
                                  {"adam_update", 75968.027},
                                  {"sum", 1341.661}},
                                 0.52,
                                 0.52},
                                {"2 GPUs",
                                 {{"WaitForVar", 42.113},
                                  {"CopyGPU2GPU", 130333.624},
                                  {"SyncCopyCPU2GPU", 41525.572},
                                  {"DeleteVariable", 7.273},
                                  {"CopyCPU2GPU", 207.737},
                                  {"SyncCopyGPU2CPU", 54367.06},
                                  {"[_backward_Activation]", 7313.474},
                                  {"_backward_FullyConnected", 11671.674},
                                  {"_zeros", 889.516},
                                  {"adam_update", 34903.49},
                                  {"[FullyConnected,Activation]", 38184.385},
                                  {"ElementwiseSum", 11007.014},
                                  {"sum", 6335.426}},
                                 0.67,
                                 0.67},
                                {"4 GPUs",
                                 {{"WaitForVar", 56.862},
                                  {"KVStoreReduce", 135786.403},
                                  {"DeleteVariable", 16.684},
                                  {"[_backward_Activation]", 70779.204},
                                  {"_backward_FullyConnected", 49550.718},
                                  {"adam_update", 229746.453},
                                  {"[FullyConnected,Activation]", 74044.214},
                                  {"sum", 848.431},
                                  {"SyncCopyGPU2CPU", 42517.441},
                                  {"SyncCopyCPU2GPU", 50147.506},
                                  {"CopyGPU2CPU", 515830.024},
                                  {"CopyCPU2GPU", 665246.646},
                                  {"CopyGPU2GPU", 18461.143}},
                                 0.70,
                                 0.77}};

void expectPublished(const SeedTable& table) {
  const auto a = analyzeText(dumps(table.rows));
  ASSERT_EQ(a->error, "");
  const auto* kvstore = a->finding("communication/kvstore-type");
  ASSERT_NE(kvstore, nullptr);
  EXPECT_NE(kvstore->verdict.find("kvstore='device'"), std::string::npos);
  const auto share = a->number(
      "SELECT 1.0 * sum(CASE WHEN class = 'transfer' AND name NOT LIKE 'KVStore%' THEN total_ns END) / "
      "sum(total_ns) "
      "FROM analysis_name WHERE kind = 'operator'");
  EXPECT_NEAR(share, table.communication, 0.005);
  EXPECT_NE(kvstore->verdict.find(fmt::format("Communication is {:.1f} %", 100 * share)), std::string::npos)
      << kvstore->verdict;
  EXPECT_NEAR(a->number("SELECT 1.0 * sum(CASE WHEN class = 'transfer' THEN total_ns END) / sum(total_ns) "
                        "FROM analysis_name WHERE kind = 'operator'"),
              table.with_reduce, 0.005);
  EXPECT_EQ(a->number("SELECT min(count) FROM analysis_operator"), 500)
      << "executions, not rows of the table";
  EXPECT_TRUE(a->report.critical_path.rows.empty()) << "sums have no order";
  EXPECT_NE(a->finding("input/prefetching-iterator"), nullptr);
  EXPECT_NE(a->finding("kvstore/update-on-host"), nullptr);
  EXPECT_NE(a->finding("kvstore/update-on-host")->verdict.find("adam_update"), std::string::npos);
}

TEST(AnalysisTables, CommunicationOfATrainingOnOneTwoAndFourGpus) {
  for (const auto& training : kTrainings) {
    SCOPED_TRACE(training.what);
    expectPublished(training);
  }
}

}  // namespace
}  // namespace pitwall::test::mxnet_dumps_test
