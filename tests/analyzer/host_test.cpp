// What a recording says of the program's end and of the machine around it, from made-up traces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "tests/analyzer/analyzed.h"
#include "tests/support/temp_folder.h"
#include "tests/support/trace_text.h"

namespace pitwall::host_test {
namespace {

std::unique_ptr<test::Analyzed> analyzed(const std::string& text) {
  auto result = std::make_unique<test::Analyzed>();
  result->path =
      (std::filesystem::path(testing::TempDir()) / fmt::format("pitwall-host-{}.pitwall", getpid())).string();
  EXPECT_TRUE(test::makeTraceFile(text, result->path).has_value());
  auto trace = Trace::open(result->path);
  EXPECT_TRUE(trace.has_value());
  if (!trace.has_value()) return result;
  result->trace = std::move(trace).value();
  auto report = analyzeTrace(*result->trace, {.rule_folders = {PITWALL_RULE_FOLDER}});
  EXPECT_TRUE(report.has_value()) << (report.has_value() ? "" : report.error().message);
  if (report.has_value()) result->report = std::move(report).value();
  return result;
}

// exit_code, exit_signal, shell_signal, oom; "-" = not known.
std::string endOf(const std::string& text) {
  std::string line;
  const auto result = analyzed(text);
  const auto rows =
      result->rows("SELECT exit_code, exit_signal, shell_signal, oom FROM analysis_summary").rows;
  if (rows.empty()) return "no facts";
  for (const auto& value : rows[0]) {
    const auto* number = std::get_if<std::int64_t>(&value);
    line += (line.empty() ? "" : " ") + (number != nullptr ? std::to_string(*number) : "-");
  }
  return line;
}

TEST(ProgramEnd, IsAFactOfTheTrace) {
  EXPECT_EQ(endOf("meta trace.producer x\n"), "- - - -") << "not recorded";
  EXPECT_EQ(endOf("meta process.exit_code 0\nmeta process.oom_kills 3\n"), "0 - - 0");
  EXPECT_EQ(endOf("meta process.exit_code 1\n"), "1 - - 0");
  EXPECT_EQ(endOf("meta process.exit_code 0\nmeta process.exit_signal 11\n"), "- 11 - 0");
  EXPECT_EQ(endOf("meta process.exit_code 139\n"), "139 - 11 0");
  EXPECT_EQ(endOf("meta process.exit_signal 9\n"), "- 9 - -") << "kills for lack of memory were not counted";
  EXPECT_EQ(endOf("meta process.exit_signal 9\nmeta process.oom_kills 0\nmeta host.oom_kills 1\n"),
            "- 9 - 0");
  EXPECT_EQ(endOf("meta process.exit_signal 9\nmeta process.oom_kills 1\n"), "- 9 - 1");
  EXPECT_EQ(endOf("meta process.exit_code 137\nmeta host.oom_kills 1\n"), "137 - 9 1");
  EXPECT_EQ(endOf("meta process.exit_code 255\n"), "255 - - 0");
}

// A rule that always proposes a number of threads and a gain, beside the one about the machine.
class Disturbed : public testing::Test {
 protected:
  void SetUp() override {
    namespace fs = std::filesystem;
    fs::copy(fs::path(PITWALL_RULE_FOLDER) / "host/other_programs.toml", folder_ / "host.toml");
    fs::copy(fs::path(PITWALL_RULE_FOLDER) / "program/failed.toml", folder_ / "failed.toml");
    std::ofstream(folder_ / "rule.toml") << R"(
id = "test/threads"
title = "t"
severity = "high"
measure = "SELECT 1 AS one"
verdict = "v"
guard = "g"
[[proposal]]
name = "OMP_NUM_THREADS"
value = "1"
reason = "r"
[[proposal]]
name = "OMP_WAIT_POLICY"
value = "'PASSIVE'"
reason = "r"
[gain]
claims = ["forward"]
low = "0.1"
high = "0.5"
method = "m"
)";
  }
  Report report(const std::string& text) {
    const std::string path = folder_ / "x.pitwall";
    EXPECT_TRUE(test::makeTraceFile(kProgram + text, path).has_value());
    auto trace = Trace::open(path);
    auto result = analyzeTrace(*trace.value(), {.rule_folders = {folder_.path().string()}});
    EXPECT_TRUE(result.has_value()) << (result.has_value() ? "" : result.error().message);
    return result.has_value() ? std::move(result).value() : Report{};
  }
  static const Finding& found(const Report& report, const std::string& id) {
    static const Finding kNone;
    for (const Finding& finding : report.findings) {
      if (finding.id == id) return finding;
    }
    ADD_FAILURE() << "no finding " << id;
    return kNone;
  }
  static constexpr char kProgram[] =
      "meta process.usable_cpus 2\nmeta process.openmp_runtime libgomp\nmeta process.openmp_threads 2\n"
      "meta runtime.engine NaiveEngine\nmeta trace.producer pitwall 0.1.0\n"
      "setting OMP_NUM_THREADS 2 environment\n"
      "repeat 10 10ms\n  iteration 0 1\n  op a Convolution forward 0 9ms\nend\n";
  static std::string load(const char* own, const char* waiting, const char* others) {
    return std::string("repeat 20 100ms\n  counter cpu cores 0 ") + own + "\n  counter host~cpu cores 0 2\n" +
           "  counter other~processes~cpu cores 0 " + others + "\n  counter cpu share 0 " + own +
           " on=main\n  counter waiting~for~a~cpu share 0 " + waiting + " on=main\nend\n";
  }
  test::TempFolder folder_;
};

std::vector<std::string> proposed(const Finding& finding) {
  std::vector<std::string> names;
  for (const auto& proposal : finding.proposals) names.push_back(proposal.name);
  return names;
}

TEST_F(Disturbed, AQuietMachineChangesNothing) {
  const auto quiet = report(load("1", "0.01", "0.02"));
  const Finding& finding = found(quiet, "test/threads");
  EXPECT_THAT(proposed(finding), testing::ElementsAre("OMP_NUM_THREADS", "OMP_WAIT_POLICY"));
  EXPECT_DOUBLE_EQ(finding.gain_low, 0.1);
  EXPECT_DOUBLE_EQ(finding.gain_high, 0.5);
  EXPECT_EQ(finding.gain_limit, "");
  EXPECT_EQ(quiet.findings.size(), 1u);
}

TEST_F(Disturbed, ABusyOneStandsFirstAndTakesTheNumberOfThreads) {
  const auto busy = report(load("0.4", "0.6", "1.6"));
  ASSERT_EQ(busy.findings.size(), 2u);
  EXPECT_EQ(busy.findings[0].id, "host/other-programs") << "before the larger gain";
  const Finding& finding = found(busy, "test/threads");
  EXPECT_THAT(proposed(finding), testing::ElementsAre("OMP_WAIT_POLICY"));
  EXPECT_EQ(finding.gain_low, 0);
  EXPECT_EQ(finding.gain_high, 0);
  EXPECT_THAT(finding.gain_limit,
              testing::HasSubstr("busy machine (other programs took 60 % of the CPU time)"));
}

TEST_F(Disturbed, AProgramThatFailedAtOnceGetsNoAdvice) {
  const auto failed =
      report("meta process.exit_code 1\nmeta trace.end_ns 1900000000\n" + load("1", "0", "0"));
  ASSERT_EQ(failed.findings.size(), 1u);
  EXPECT_EQ(failed.findings[0].id, "program/failed");
  EXPECT_TRUE(failed.end.too_short) << "although it had iterations";
}

}  // namespace
}  // namespace pitwall::host_test
