#include "analyzer/rules/rule_file.h"

#include <gmock/gmock.h>

#include "analyzer/rules/budget.h"
#include "analyzer/rules/rule_set.h"
#include "analyzer/rules/text_template.h"

namespace pitwall::rules {
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
      AllOf(StartsWith("r.toml:17:"), HasSubstr("'sleep' is no category")));
  EXPECT_THAT(errorOf("abstain = [3]\n" + std::string(kRule)),
              HasSubstr("each entry of 'abstain' must be a table"));
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
      EXPECT_EQ(threshold.value, threshold.name == "share" ? 0.4 : 0.2);
  }
  const auto unknown = loadRules({{}, {{"input/bound.colour", 1}}});
  ASSERT_FALSE(unknown.has_value());
  EXPECT_THAT(unknown.error().message, HasSubstr("it has: high_share, share"));
}

TEST(Template, FormatsNumbersWithUnits) {
  const std::vector<std::string> columns{"share", "time", "size", "n", "name", "rate", "none"};
  const std::vector<SqlValue> row{
      0.3125, std::int64_t{1234567}, std::int64_t{3145728}, 2.4, std::string("x"), 12345.6, {}};
  const auto expand_all =
      expand({"{share:%} {time:ns}\n{size:bytes}  {n:int} {n} {name} {rate:rate} {none}", "p"}, columns, row);
  ASSERT_TRUE(expand_all.has_value()) << expand_all.error().message;
  EXPECT_EQ(expand_all.value(), "31.2 % 1.23 ms 3.0 MiB 2 2.4 x 12,346 unknown");
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

TEST(Budget, NoTimeIsPromisedTwice) {
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
  EXPECT_DOUBLE_EQ(findings[1].gain_low, 0.05);
  EXPECT_DOUBLE_EQ(findings[2].gain_high, 0);
  EXPECT_DOUBLE_EQ(findings[2].gain_low, 0);
}

}  // namespace
}  // namespace pitwall::rules
