// All rules together over the traces of every rule: what they say must not contradict itself.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/rules/rule_set.h"
#include "db/reader.h"
#include "tests/support/read_all.h"
#include "tests/support/trace_text.h"
#include "tests/support/verdict_checks.h"

namespace pitwall::verdicts_test {
namespace {

namespace fs = std::filesystem;

class Verdicts : public testing::TestWithParam<std::string> {};

// A folder of traces, one rule's.
TEST_P(Verdicts, AgreeWithTheirEvidence) {
  const AnalyzeOptions options{.rule_folders = {PITWALL_RULE_FOLDER}};
  const auto set = rules::loadRules(options);
  ASSERT_TRUE(set.has_value()) << set.error().message;
  const std::string path =
      (fs::path(testing::TempDir()) / fmt::format("pitwall-verdicts-{}.pitwall", getpid())).string();
  for (const auto& entry : fs::directory_iterator(fs::path(PITWALL_RULE_CASES) / GetParam())) {
    if (entry.path().extension() != ".txt") continue;
    SCOPED_TRACE(entry.path().string());
    const auto made = test::makeTraceFile(test::readAll(entry.path()), path);
    ASSERT_TRUE(made.has_value()) << made.error().message;
    auto trace = Trace::open(path);
    ASSERT_TRUE(trace.has_value()) << trace.error().message;
    const auto report = analyzeTrace(*trace.value(), options);
    ASSERT_TRUE(report.has_value()) << report.error().message;
    for (const auto& complaint : test::complaintsAbout(*report, set.value().rules, *trace.value()))
      ADD_FAILURE() << complaint;
  }
  fs::remove(path);
}

std::vector<std::string> folders() {
  std::vector<std::string> names;
  for (const auto& group : fs::directory_iterator(PITWALL_RULE_CASES)) {
    if (!group.is_directory()) continue;
    for (const auto& rule : fs::directory_iterator(group.path()))
      names.push_back(rule.path().lexically_relative(PITWALL_RULE_CASES).string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string folderName(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '/' || c == '-'; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Rules, Verdicts, testing::ValuesIn(folders()), folderName);

// A check that never reports an error would be useless.
TEST(VerdictChecks, FindSharesBeyondTheWhole) {
  EXPECT_EQ(test::sharesBeyondTheWhole("0.2 % of 100 %, 99.9 % and 278 % or 1,040.5 %").size(), 2U);
  EXPECT_EQ(test::sharesBeyondTheWhole("twice, 47x, 100.0 %").size(), 0U);
}

TEST(VerdictChecks, FindEvidenceOfAnotherWindow) {
  const std::string path =
      (fs::path(testing::TempDir()) / fmt::format("pitwall-verdicts-{}.pitwall", getpid())).string();
  ASSERT_TRUE(test::makeTraceFile("op - a none 0 1ms\n", path).has_value());
  auto trace = Trace::open(path);
  ASSERT_TRUE(trace.has_value());
  rules::Rule rule;
  rule.id = "a/b";
  rule.thresholds = {{"share", 0.5, "", "", ""}};
  rule.measure.text = "SELECT 40 AS total_ns, 0.4 AS share WHERE 1 > :threshold_share";
  rule.evidence.text = "SELECT 50 AS total_ns, 0.5 AS share";
  Finding finding;
  finding.id = rule.id;
  finding.verdict = "40 %";
  EXPECT_TRUE(test::complaintsAbout(finding, rule, *trace.value(), {}).empty());
  rule.evidence.text = "SELECT 50 AS total_ns, 0.3 AS share";
  EXPECT_EQ(test::complaintsAbout(finding, rule, *trace.value(), {}).size(), 1U);
  rule.measure.text = "SELECT 40 AS total_ns, 1.4 AS share";
  EXPECT_EQ(test::complaintsAbout(finding, rule, *trace.value(), {}).size(), 2U);
  rule.evidence.text = "";
  finding.gain_high = 0.2;
  EXPECT_EQ(test::complaintsAbout(finding, rule, *trace.value(), {}).size(), 3U)
      << "both rows are the measure, and nothing can be gained";
  fs::remove(path);
}

}  // namespace
}  // namespace pitwall::verdicts_test
