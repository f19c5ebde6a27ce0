#include "analyzer/rules/rule_file.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <fstream>
#include <limits>

#include "analyzer/rules/budget.h"
#include "analyzer/rules/rule_set.h"
#include "analyzer/rules/text_template.h"

namespace pitwall::rules::rule_file_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr char kRule[] = R"(id = "test/rule"
title = "A title"
severity = "low"
measure = "SELECT 1 AS one"
verdict = "one is {one}"
guard = "never"

[thresholds.share]
value = 0.5
unit = "share"
source = "here"
meaning = "limit"
)";

std::string errorOf(const std::string& toml) {
  const auto rule = parseRule(toml, "r.toml");
  return rule.has_value() ? "" : rule.error().message;
}

TEST(RuleFile, ReadsAll) {
  const auto rule = parseRule(std::string(kRule) + R"(
[[abstain]]
when = "iterations < 3"
reason = "too few"
[[proposal]]
name = "OMP_NUM_THREADS"
value = "one"
reason = "because {one}"
[gain]
claims = ["idle"]
low = "0.1"
high = "0.2"
method = "guess"
)",
                              "r.toml");
  ASSERT_TRUE(rule.has_value()) << rule.error().message;
  EXPECT_EQ(rule.value().id, "test/rule");
  EXPECT_EQ(rule.value().thresholds.at(0).value, 0.5);
  EXPECT_EQ(rule.value().abstains.at(0).reason, "too few");
  EXPECT_EQ(rule.value().proposals.at(0).name, "OMP_NUM_THREADS");
  EXPECT_EQ(rule.value().claims.at(0), "idle");
  EXPECT_EQ(rule.value().verdict.place, "r.toml:5");
}

TEST(RuleFile, ErrorsNameFileAndLine) {
  EXPECT_THAT(errorOf("id = \"a\"\ntitle = \"unclosed\nseverity"), StartsWith("r.toml:2: not valid TOML"));
  EXPECT_THAT(errorOf(std::string(kRule) + "\n[gain]\nhigh = \"1\"\n"),
              AllOf(StartsWith("r.toml:14:"), HasSubstr("'low' is missing")));
  EXPECT_THAT(errorOf(std::string(kRule) + "colour = 1\n"),
              AllOf(StartsWith("r.toml:13:"), HasSubstr("unknown key 'colour'")));
  EXPECT_THAT(errorOf("id = 3\n"), AllOf(StartsWith("r.toml:1:"), HasSubstr("'id' must be a text")));
  EXPECT_THAT(
      errorOf(std::string(kRule) + "[gain]\nlow=\"0\"\nhigh=\"0\"\nmethod=\"m\"\nclaims=[\"sleep\"]\n"),
      AllOf(StartsWith("r.toml:17:"), HasSubstr("'sleep' is not a category")));
  EXPECT_THAT(errorOf("abstain = [3]\n" + std::string(kRule)),
              HasSubstr("each entry of 'abstain' must be a table"));
}

std::string withLine(std::string_view from, std::string_view to) {
  std::string rule = kRule;
  return rule.replace(rule.find(from), from.size(), to);
}

TEST(RuleFile, OnlyReads) {
  EXPECT_THAT(errorOf(withLine("SELECT 1 AS one", "DROP TABLE analysis_summary")),
              AllOf(StartsWith("r.toml:4:"), HasSubstr("must be a SELECT; it begins with 'DROP'")));
  EXPECT_THAT(errorOf(withLine("SELECT 1 AS one", "SELECT 1 AS one; DELETE FROM analysis_summary")),
              AllOf(StartsWith("r.toml:4:"), HasSubstr("without ';'")));
  EXPECT_THAT(
      errorOf(std::string(kRule) + "[[abstain]]\nwhen=\"1); DROP TABLE t; SELECT (1\"\nreason=\"x\"\n"),
      HasSubstr("without ';'"));
  EXPECT_EQ(errorOf(withLine("SELECT 1 AS one", "SELECT ';' AS one")), "");
  EXPECT_EQ(errorOf(withLine("\"SELECT 1 AS one\"",
                             "\"\"\" -- why; so\n with x AS (SELECT 1 AS one) SELECT * FROM x\"\"\"")),
            "");
}

TEST(RuleFile, IdsAndThresholdsAreWhatTheyMustBe) {
  EXPECT_THAT(errorOf(withLine("test/rule", "test rule.x")),
              HasSubstr("id 'test rule.x' must be folder/name"));
  EXPECT_THAT(errorOf(withLine("value = 0.5", "value = -0.5")),
              AllOf(StartsWith("r.toml:8:"),
                    HasSubstr("threshold 'share' is -0.5; it must be a number of 0 or more")));
  EXPECT_THAT(errorOf(withLine("value = 0.5", "value = 15")), HasSubstr("is between 0 and 1: 15 % is 0.15"));
}

TEST(RuleFile, CheckFindsWhatWouldSilentlyDoNothing) {
  const std::string path = testing::TempDir() + "/pitwall-checked-rule.toml";
  const auto complaint = [&](const std::string& toml) {
    std::ofstream(path) << toml;
    const auto status = checkRuleFile(path);
    return status.has_value() ? std::string() : status.error().message;
  };
  const std::string measure = "SELECT 1 AS one WHERE 1 > :threshold_share";
  const std::string good = withLine("SELECT 1 AS one", measure);
  EXPECT_EQ(complaint(good), "");
  EXPECT_THAT(complaint(kRule), HasSubstr("no SQL of the rule uses :threshold_share"));
  const auto withEvidence = [&](const char* column) {
    return withLine("guard", std::string("evidence = \"SELECT 1 AS ") + column + ", 2 AS shown\"\nguard");
  };
  EXPECT_THAT(complaint(withEvidence("at_begin_ns")),
              HasSubstr("column at_begin_ns of the evidence says no place"));
  EXPECT_THAT(complaint(withEvidence("at_start_ns")), Not(HasSubstr("says no place")));
  EXPECT_THAT(complaint(good + "[[proposal]]\nname = \"OMP_NUM_THREAD\"\nvalue = \"one\"\nreason = \"r\"\n"),
              AllOf(HasSubstr(":15:"), HasSubstr("'OMP_NUM_THREAD' is not a known setting")));
  EXPECT_THAT(complaint(withLine("\"low\"", "\"extreme\"")),
              HasSubstr(":3: severity 'extreme' is not one of"));
  EXPECT_THAT(complaint(withLine("SELECT 1 AS one", "SELECT 1 AS one WHERE 1 > :threshold_shar")),
              HasSubstr("the rule's thresholds are: :threshold_share"));
  EXPECT_THAT(complaint(withLine("SELECT 1 AS one", "SELECT 1 AS one FROM analysis_nonesuch")),
              AllOf(HasSubstr(":4: no such table: analysis_nonesuch"), HasSubstr("--schema")));
  std::remove(path.c_str());
  EXPECT_THAT(checkRuleFile(testing::TempDir()).error().message, HasSubstr("is a folder"));
}

TEST(RuleFile, EveryEmbeddedRuleReads) {
  const auto set = loadRules({});
  ASSERT_TRUE(set.has_value()) << set.error().message;
  EXPECT_GE(set.value().rules.size(), 12U);
}

TEST(RuleSet, ThresholdsAreOverridden) {
  const auto set = loadRules({{}, {{"input/bound.share", 0.4}}});
  ASSERT_TRUE(set.has_value());
  for (const auto& rule : set.value().rules) {
    if (rule.id != "input/bound") continue;
    for (const auto& threshold : rule.thresholds)
      EXPECT_EQ(threshold.value == 0.4, threshold.name == "share") << threshold.name;
  }
  const auto unknown = loadRules({{}, {{"input/bound.colour", 1}}});
  ASSERT_FALSE(unknown.has_value());
  EXPECT_THAT(unknown.error().message, HasSubstr("it has: high_share, passing, reading, share"));
}

TEST(RuleSet, WhatCannotBeIsRefused) {
  const auto complaint = [](const char* name, double value) {
    const auto set = loadRules({{}, {{name, value}}});
    return set.has_value() ? std::string() : set.error().message;
  };
  EXPECT_THAT(complaint("input/bound.share", -0.1),
              StartsWith("--set input/bound.share is -0.1; it must be"));
  EXPECT_THAT(complaint("input/bound.share", 15), HasSubstr("between 0 and 1"));
  EXPECT_THAT(complaint("input/bound.share", std::numeric_limits<double>::quiet_NaN()),
              HasSubstr("must be a number"));
  EXPECT_THAT(complaint("bound.share", 0.1), StartsWith("--set bound.share: no rule 'bound'"));
  EXPECT_EQ(complaint("gpu/long-gaps.dur_ns", 2e6), "");
  AnalyzeOptions off;
  off.disabled = {"input/bound", "input/bound"};
  EXPECT_TRUE(loadRules(off).has_value());
  off.disabled = {"input/none"};
  EXPECT_EQ(loadRules(off).error().message,
            "--disable: no rule 'input/none' to switch off; 'pitwall rules list' names all");
}

TEST(RuleSet, ErrorsOfAConfigurationNameItsLine) {
  const std::string path = testing::TempDir() + "/pitwall-rule-config.toml";
  const auto complaint = [&](const char* text) {
    std::ofstream(path) << text;
    AnalyzeOptions options;
    options.config_file = path;
    const auto set = loadRules(options);
    return set.has_value() ? std::string() : set.error().message;
  };
  EXPECT_EQ(complaint("['input/bound']\nshare = 0.2\n['engine/naive']\nenabled = false\n"), "");
  EXPECT_THAT(complaint("['input/bound']\n\ncolour = 1\n"),
              StartsWith(path + ":3: input/bound.colour: rule input/bound has no such threshold; it has:"));
  EXPECT_THAT(complaint("['input/bound']\nshare = -1\n"), StartsWith(path + ":2: input/bound.share is -1;"));
  EXPECT_THAT(complaint("['input/bound']\nshare = '5 %'\n"),
              AllOf(StartsWith(path + ":2:"), HasSubstr("a number")));
  EXPECT_THAT(complaint("['input/none']\nenabled = false\n"), StartsWith(path + ":2: no rule 'input/none'"));
  std::remove(path.c_str());
  AnalyzeOptions folder;
  folder.config_file = testing::TempDir();
  EXPECT_THAT(loadRules(folder).error().message, HasSubstr("is a folder"));
}

TEST(Template, FormatsNumbersWithUnits) {
  const std::vector<std::string> columns{"share", "time", "size", "n", "name", "rate", "none"};
  const std::vector<SqlValue> row{
      0.3125, std::int64_t{1234567}, std::int64_t{3145728}, 2.4, std::string("x"), 12345.6, {}};
  const auto expand_all =
      expand({"{share:%} {time:ns}\n{size:bytes}  {n:int} {n} {name} {rate:rate} {none}", "p"}, columns, row);
  ASSERT_TRUE(expand_all.has_value()) << expand_all.error().message;
  EXPECT_EQ(expand_all.value(), "31.2 % 1.23 ms 3.0 MiB 2 2.4 x 12,346 unknown");
  const auto counted = expand({"{one:#thread}, {two:#OpenMP thread}, {none:#rank}", "p"},
                              {"one", "two", "none"}, {std::int64_t{1}, std::int64_t{2}, {}});
  ASSERT_TRUE(counted.has_value()) << counted.error().message;
  EXPECT_EQ(counted.value(), "1 thread, 2 OpenMP threads, an unknown number of ranks");
}

TEST(Template, ErrorsNameThePlace) {
  const auto unknown = expand({"{x}", "r.toml:7"}, {"a"}, {SqlValue()});
  ASSERT_FALSE(unknown.has_value());
  EXPECT_THAT(unknown.error().message, AllOf(StartsWith("r.toml:7"), HasSubstr("it has: a")));
  EXPECT_FALSE(expand({"{a:furlong}", "p"}, {"a"}, {SqlValue()}).has_value());
  EXPECT_FALSE(expand({"{a", "p"}, {"a"}, {SqlValue()}).has_value());
}

Claim claimOf(const std::string& id, double low, double high, std::vector<std::string> categories) {
  Claim claim{{}, std::move(categories)};
  claim.finding.id = id;
  claim.finding.gain_low = low;
  claim.finding.gain_high = high;
  return claim;
}

TEST(Budget, NoTimeIsCountedTwice) {
  Breakdown breakdown;
  breakdown.shares = {{"forward", 0, 0.5}, {"data wait", 0, 0.3}, {"idle", 0, 0.2}};
  const auto findings =
      shareBudget({claimOf("weak", 0.1, 0.25, {"data wait"}), claimOf("strong", 0.2, 0.3, {"data wait"}),
                   claimOf("both", 0.05, 0.28, {"data wait", "idle"})},
                  breakdown);
  ASSERT_EQ(findings.size(), 3U);
  EXPECT_EQ(findings[0].id, "strong");
  EXPECT_DOUBLE_EQ(findings[0].gain_high, 0.3);
  EXPECT_EQ(findings[1].id, "both");
  EXPECT_DOUBLE_EQ(findings[1].gain_high, 0.2);
  EXPECT_DOUBLE_EQ(findings[1].gain_low, 0) << "0.08 of it are the strong one's";
  EXPECT_DOUBLE_EQ(findings[2].gain_high, 0);
  EXPECT_DOUBLE_EQ(findings[2].gain_low, 0);
}

TEST(Budget, SymptomsGetWhatTheirCausesLeave) {
  Breakdown breakdown;
  breakdown.shares = {{"host wait", 0, 0.9}, {"computation", 0, 0.1}};
  auto symptom = claimOf("symptom", 0, 0.9, {"host wait"});
  symptom.is_symptom = true;
  const auto findings = shareBudget({symptom, claimOf("cause", 0.3, 0.8, {"host wait"})}, breakdown);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].id, "cause");
  EXPECT_DOUBLE_EQ(findings[0].gain_low, 0.3);
  EXPECT_DOUBLE_EQ(findings[0].gain_high, 0.8);
  EXPECT_NEAR(findings[1].gain_high, 0.1, 1e-9);
  EXPECT_FALSE(findings[1].gain_limit.empty());
}

TEST(Budget, ASurePredictionStandsBeforeAWideOneAndSeverityFollows) {
  Breakdown breakdown;
  breakdown.shares = {{"idle", 0, 0.61}, {"data wait", 0, 0.39}, {"forward", 0, 0}};
  auto wide = claimOf("wide", 0, 0.61, {"idle"});
  wide.finding.confidence = Confidence::low;
  wide.finding.severity = Severity::high;
  auto sure = claimOf("sure", 0.25, 0.39, {"data wait"});
  sure.finding.confidence = Confidence::high;
  sure.finding.severity = Severity::low;
  const auto findings = shareBudget({wide, sure}, breakdown);
  EXPECT_EQ(findings[0].id, "sure");
  EXPECT_EQ(findings[0].severity, Severity::high);
  EXPECT_NEAR(findings[0].expected_gain, 0.32, 1e-9);
  EXPECT_EQ(findings[1].severity, Severity::medium);
  EXPECT_NEAR(findings[1].expected_gain, 0.0915, 1e-9);
}

TEST(Budget, WithoutAGainTheCostCapsTheSeverityAndACutGainIsNoMoreThanLow) {
  Breakdown breakdown;
  breakdown.shares = {{"idle", 0, 0.5}};
  auto cheap = claimOf("cheap", 0, 0, {});
  cheap.finding.severity = Severity::high;
  cheap.finding.cost_share = 0.03;
  auto crashed = claimOf("crashed", 0, 0, {});
  crashed.finding.severity = Severity::high;
  auto cause = claimOf("cause", 0.4, 0.5, {"idle"});
  auto same = claimOf("same", 0.1, 0.5, {"idle"});
  same.finding.severity = Severity::high;
  const auto findings = shareBudget({cheap, crashed, same, cause}, breakdown);
  ASSERT_EQ(findings.size(), 4U);
  EXPECT_EQ(findings[0].id, "cause");
  EXPECT_EQ(findings[1].id, "crashed");
  EXPECT_EQ(findings[1].severity, Severity::high);
  EXPECT_EQ(findings[2].id, "cheap");
  EXPECT_EQ(findings[2].severity, Severity::low);
  EXPECT_EQ(findings[3].id, "same");
  EXPECT_EQ(findings[3].severity, Severity::low);
}

TEST(Budget, OfEqualGainsTheSurerOneIsServedAndRoundingIsNoGain) {
  Breakdown breakdown;
  breakdown.shares = {{"communication", 0, 0.3 + 1e-9}};
  const auto findings =
      shareBudget({claimOf("a", 0, 0.3, {"communication"}), claimOf("b", 0.1, 0.3, {"communication"}),
                   claimOf("c", 0.05, 0.3, {"communication"})},
                  breakdown);
  EXPECT_EQ(findings[0].id, "b");
  EXPECT_DOUBLE_EQ(findings[1].gain_high, 0);
  EXPECT_DOUBLE_EQ(findings[2].gain_high, 0);
}

}  // namespace
}  // namespace pitwall::rules::rule_file_test
