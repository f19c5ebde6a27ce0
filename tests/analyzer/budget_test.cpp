// Gains of random claims share one budget of time.
#include "analyzer/rules/budget.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>

namespace pitwall::test::budget_test {
namespace {

std::vector<rules::Claim> randomClaims(std::mt19937& random, const Breakdown& breakdown) {
  std::uniform_real_distribution<double> share(-0.2, 1.2);
  std::vector<rules::Claim> claims;
  for (int i = 0; i < 12; ++i) {
    rules::Claim claim;
    claim.finding.id = fmt::format("rule/{}", i);
    claim.finding.gain_high = i == 11 ? std::numeric_limits<double>::quiet_NaN() : share(random);
    claim.finding.gain_low = share(random);
    claim.finding.confidence = static_cast<Confidence>(random() % 3);
    claim.finding.severity = static_cast<Severity>(random() % 4);
    for (int c = 0; c < 3; ++c)  // the same one twice, too, and one that is not there
      claim.categories.push_back(
          random() % 9 == 0 ? "nowhere" : breakdown.shares[random() % breakdown.shares.size()].category);
    claims.push_back(std::move(claim));
  }
  return claims;
}

TEST(Properties, GainsNeverExceedTheRemovableTime) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Breakdown breakdown;
    double left = 1;
    for (const char* category : {"forward", "backward", "data wait", "engine overhead", "idle"}) {
      const double part = left * static_cast<double>(random() % 100) / 100;
      breakdown.shares.push_back({category, 0, part});
      left -= part;
    }
    auto claims = randomClaims(random, breakdown);
    std::map<std::string, std::vector<std::string>> categories;
    std::map<std::string, double> predicted;
    for (const auto& claim : claims) {
      categories[claim.finding.id] = claim.categories;
      predicted[claim.finding.id] = claim.finding.gain_high;
    }
    const auto findings = rules::shareBudget(claims, breakdown);
    ASSERT_EQ(findings.size(), claims.size());
    // For every set of categories: findings that claim only these gain no more than the time in them.
    for (unsigned subset = 0; subset < 32; ++subset) {
      double available = 0, gained = 0;
      const auto within = [&](const std::string& category) {
        for (std::size_t c = 0; c < breakdown.shares.size(); ++c) {
          if (breakdown.shares[c].category == category) return (subset >> c & 1U) != 0;
        }
        return true;  // "nowhere" holds nothing
      };
      for (const auto& part : breakdown.shares) available += within(part.category) ? part.share : 0;
      for (const auto& finding : findings) {
        const auto& own = categories[finding.id];
        if (std::all_of(own.begin(), own.end(), within)) gained += finding.gain_high;
      }
      EXPECT_LE(gained, available + 1e-12) << "categories " << subset;
    }
    for (std::size_t i = 1; i < findings.size(); ++i) {
      EXPECT_GE(findings[i - 1].severity, findings[i].severity) << "a lower one is never above";
      if (findings[i - 1].severity == findings[i].severity) {
        EXPECT_GE(findings[i - 1].expected_gain, findings[i].expected_gain);
      }
    }
    for (const auto& finding : findings) {
      EXPECT_LE(finding.expected_gain, finding.gain_high);
      EXPECT_GE(finding.gain_low, 0);
      EXPECT_LE(finding.gain_low, finding.gain_high);
      if (predicted[finding.id] > 0) {
        EXPECT_LE(finding.gain_high, predicted[finding.id]);
      }
    }
    std::shuffle(claims.begin(), claims.end(), random);
    const auto again = rules::shareBudget(claims, breakdown);
    for (std::size_t i = 0; i < findings.size(); ++i) {
      EXPECT_EQ(findings[i].id, again[i].id);
      EXPECT_EQ(findings[i].gain_high, again[i].gain_high);
    }
  }
}

TEST(EstimatedGain, IsTheMiddleAsASpeedAndWithinTheInterval) {
  EXPECT_EQ(estimatedGain(0, 0), 0);
  EXPECT_DOUBLE_EQ(estimatedGain(0.5, 0.5), 0.5);
  EXPECT_DOUBLE_EQ(estimatedGain(0, 0.75), 0.5) << "1 to 4 times as fast: 2";
  EXPECT_DOUBLE_EQ(estimatedGain(0.5, 0.875), 0.75) << "2 to 8 times as fast: 4";
  EXPECT_DOUBLE_EQ(estimatedGain(0, 1), 0.9) << "at most 100 times as fast";
  EXPECT_EQ(estimatedGain(0.999, 1), 0.999);
}

}  // namespace
}  // namespace pitwall::test::budget_test
