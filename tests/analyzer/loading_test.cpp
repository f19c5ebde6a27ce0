// A program that loads its own batches, before and after workers do it, in the schema that PyTorch's profiler
// wrote in 2021; and what must hold of every finding on every real trace.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/rules/rule_set.h"
#include "tests/analyzer/analyzed.h"
#include "tests/db/import/corpus.h"
#include "tests/db/import/imported.h"
#include "tests/support/verdict_checks.h"

namespace pitwall::test::loading_test {
namespace {

namespace fs = std::filesystem;

std::vector<rules::Rule> allRules() {
  auto set = rules::loadRules({.rule_folders = {PITWALL_RULE_FOLDER}});
  EXPECT_TRUE(set.has_value()) << set.error().message;
  return set.has_value() ? set.value().rules : std::vector<rules::Rule>();
}

struct Program {
  const char* loader;
  std::int64_t load_us, host_us, kernel_us;  // host: from launch to launch
};

constexpr int kSteps = 7, kKernels = 60;
constexpr Program kOwnLoading = {"_SingleProcessDataLoaderIter", 68'500, 1'750, 1'630};
constexpr Program kWorkers = {"_MultiProcessingDataLoaderIter", 1'400, 2'080, 1'630};

// Half of the kernels are launched by forward operators, half by backward functions on autograd's thread.
std::string traceOf(const Program& program) {
  std::string events;
  const auto add = [&](const char* category, const std::string& name, const char* process, const char* thread,
                       std::int64_t start, std::int64_t dur, const std::string& args) {
    events += fmt::format(
        R"({}{{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":"{}","ts":{},"dur":{},"args":{{{}}}}})",
        events.empty() ? "" : ",\n", category, name, process, thread, start, dur, args);
  };
  std::int64_t at = 1'623'142'623'460'000, device = at;
  int correlation = 100;
  for (int step = 0; step < kSteps; ++step) {
    const std::int64_t begin = at;
    const auto loader = fmt::format("enumerate(DataLoader)#{}.__next__", program.loader);
    add("Operator", loader, "25738", "25738", at + 10, program.load_us, R"("External id":9)");
    add("Operator", "aten::stack", "25738", "25738", at + 20, program.load_us / 2, R"("External id":10)");
    at += program.load_us + 20;
    for (int k = 0; k < kKernels; ++k, at += program.host_us) {
      const bool forward = k < kKernels / 2;
      const char* const thread = forward ? "25738" : "25772";
      const auto args = fmt::format(R"("Sequence number":{},"Fwd thread id":{})",
                                    step * 100 + (forward ? k : kKernels - 1 - k), forward ? 0 : 1);
      add("Operator", forward ? "aten::conv2d" : "CudnnConvolutionBackward", "25738", thread, at,
          program.host_us - 100, args);
      add("Runtime", "cudaLaunchKernel", "25738", thread, at + 50, 10,
          fmt::format(R"("cbid":211,"correlation":{})", ++correlation));
      device = std::max(device, at + 65);
      add("Kernel", "volta_scudnn_128x64_relu_medium_nn_v1", "0", "stream 7", device, program.kernel_us,
          fmt::format(R"("device":0,"stream":7,"correlation":{})", correlation));
      device += program.kernel_us;
    }
    add("Operator", "Optimizer.step#SGD.step", "25738", "25738", at - 60, 50, R"("External id":11)");
    add("Operator", fmt::format("ProfilerStep#{}", step + 5), "25738", "25738", begin, at - begin,
        R"("External id":4)");
    at += 5;
  }
  return R"({"schemaVersion":1,"traceEvents":[)" + events + "]}";
}

std::unique_ptr<Analyzed> analyzeProgram(const Program& program) {
  const TemporaryFile file(traceOf(program), "loading.pt.trace.json");
  return analyzeFiles({file.path()});
}

// The finding comes first, its share is what a step spends loading, and the interval contains the measured
// gain.
void expectLoadingFirst(const Analyzed& a, double measured_gain) {
  ASSERT_EQ(a.error, "");
  ASSERT_FALSE(a.report.findings.empty());
  const Finding& first = a.report.findings.front();
  EXPECT_EQ(first.id, "input/workers");
  EXPECT_EQ(first.severity, Severity::high);
  EXPECT_LE(first.gain_low, measured_gain);
  EXPECT_GE(first.gain_high, measured_gain);
  EXPECT_LE(first.gain_high, a.number("SELECT gpu_idle_share FROM analysis_summary") + 1e-9)
      << "the device's work stays";
  EXPECT_NEAR(a.number("SELECT share FROM analysis_data_range WHERE name LIKE '%SingleProcess%'"), 0.39,
              0.011);
  EXPECT_NEAR(a.number("SELECT wait_share FROM analysis_data"), 0.39, 0.011);
}

// Whatever removes no device work cannot take more than the time in which the device is idle.
void expectNothingBeyondTheDevice(const Analyzed& a) {
  ASSERT_EQ(a.error, "");
  const double idle = a.number("SELECT gpu_idle_share FROM analysis_summary");
  double predicted = 0;
  for (const auto& rule : allRules()) {
    const auto claims = [&](const char* category) {
      return std::find(rule.claims.begin(), rule.claims.end(), category) != rule.claims.end();
    };
    const Finding* finding = a.finding(rule.id);
    if (finding == nullptr || claims("computation") || claims("copies") || claims("communication")) continue;
    predicted += finding->gain_high;
  }
  EXPECT_LE(predicted, idle + 1e-9);
  EXPECT_EQ(a.finding("input/workers"), nullptr);
  EXPECT_EQ(a.finding("input/bound"), nullptr);
}

TEST(Loading, InTheProgramsOwnThreadComesFirst) {
  const auto a = analyzeProgram(kOwnLoading);
  expectLoadingFirst(*a, 1 - 126.2 / 173.5);
  EXPECT_EQ(a->report.breakdown.iteration_source, "marks");
  EXPECT_EQ(a->number("SELECT count(*) FROM analysis_operator WHERE name LIKE 'ProfilerStep%'"), 0);
  EXPECT_EQ(
      a->number("SELECT sum(count) FROM analysis_operator WHERE name = 'aten::stack' AND phase = 'data'"),
      a->report.breakdown.iterations);
  EXPECT_NEAR(a->number("SELECT max(1.0 * data_wait_ns / dur_ns) FROM analysis_iteration"), 0.395, 0.005)
      << "operators that prepare a batch hide no wait for it";
}

TEST(Loading, ByWorkersIsNoCause) {
  const auto a = analyzeProgram(kWorkers);
  ASSERT_EQ(a->error, "");
  EXPECT_NEAR(a->number("SELECT gpu_busy_share FROM analysis_summary"), 0.775, 0.01);
  expectNothingBeyondTheDevice(*a);
}

TEST(Loading, OfThePublishedPair) {
  PITWALL_NEEDS_CORPUS();
  const auto before = analyzeFiles({corpusFolder() + "/kineto_tb/workers_0.pt.trace.json.gz"});
  expectLoadingFirst(*before, 1 - 126.5 / 176.3);
  EXPECT_NEAR(before->number("SELECT iteration_median_ns / 1e6 FROM analysis_summary"), 176.3, 1);
  EXPECT_NEAR(before->number("SELECT wait_ns_per_iteration / 1e6 FROM analysis_data"), 70, 1);
  EXPECT_EQ(before->number("SELECT count(*) FROM analysis_operator WHERE name = 'aten::conv2d' AND phase <> "
                           "'forward'"),
            0);
  EXPECT_EQ(before->number("SELECT count(*) FROM analysis_operator WHERE phase <> 'backward' AND name LIKE "
                           "'%AccumulateGrad'"),
            0);
  for (const char* phase : {"forward", "backward", "update", "data"}) {
    EXPECT_GT(
        before->number(fmt::format("SELECT sum(count) FROM analysis_operator WHERE phase = '{}'", phase)), 0)
        << phase;
  }
  const auto after = analyzeFiles({corpusFolder() + "/kineto_tb/workers_4.pt.trace.json.gz"});
  expectNothingBeyondTheDevice(*after);
  EXPECT_NEAR(after->number("SELECT iteration_median_ns / 1e6 FROM analysis_summary"), 126.5, 1);
  EXPECT_LT(after->number("SELECT wait_ns_per_iteration / 1e6 FROM analysis_data"), 1.5);
}

bool isTrace(const fs::path& path) {
  const std::string name = path.filename().string();
  for (const char* end : {".json", ".json.gz", ".sqlite", ".log"}) {
    if (name.ends_with(end)) return true;
  }
  return false;
}

TEST(Verdicts, OfEveryRealTraceAgreeWithTheirEvidence) {
  PITWALL_NEEDS_CORPUS();
  const auto rules = allRules();
  int traces = 0;
  for (const char* folder :
       {"kineto_tb", "hta", "tracelens", "mxnet", "nsys", "onednn_generated", "onednn_snippets"}) {
    for (const auto& entry : fs::recursive_directory_iterator(corpusFolder() + "/" + folder)) {
      if (!entry.is_regular_file() || !isTrace(entry.path())) continue;
      SCOPED_TRACE(entry.path().string());
      const auto a = analyzeFiles({entry.path().string()});
      if (!a->error.empty()) continue;  // what cannot be imported is the importers' tests' matter
      ++traces;
      for (const auto& complaint : complaintsAbout(a->report, rules, *a->trace)) ADD_FAILURE() << complaint;
    }
  }
  EXPECT_GT(traces, 40);
}

}  // namespace
}  // namespace pitwall::test::loading_test
