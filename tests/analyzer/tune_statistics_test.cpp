// The statistic of a search: against values by hand and seeded simulations.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "analyzer/tune/paired.h"

namespace pitwall::tune_statistics_test {
namespace {

using tuning::Pair;
using tuning::ratioOf;
using tuning::signEvidence;

std::vector<Pair> pairsOf(const std::vector<double>& ratios) {
  std::vector<Pair> pairs;
  for (const double ratio : ratios) pairs.push_back({100, 100 * ratio});
  return pairs;
}

// The mixture's probability of one sequence, step by step: (k + 1/4) / (n + 1/2) for each pair that is larger.
double evidenceByHand(int larger, int pairs) {
  double evidence = 1;
  for (int i = 0; i < larger; ++i) evidence *= 2 * (i + 0.25) / (i + 0.5);
  for (int i = 0; i < pairs - larger; ++i) evidence *= 2 * (i + 0.25) / (larger + i + 0.5);
  return evidence;
}

TEST(SignEvidence, IsTheMixturesLikelihoodRatio) {
  EXPECT_NEAR(signEvidence(0, 0), 1, 1e-12);
  EXPECT_NEAR(signEvidence(1, 1), 1, 1e-12);  // one pair shows nothing
  for (int pairs = 1; pairs < 30; ++pairs) {
    for (int larger = 0; larger <= pairs; ++larger)
      EXPECT_NEAR(signEvidence(larger, pairs), evidenceByHand(larger, pairs),
                  1e-9 * evidenceByHand(larger, pairs));
  }
}

TEST(SignEvidence, IsAMartingaleForFairCoins) {
  for (int larger = 0; larger <= 12; ++larger) {
    const double next = (signEvidence(larger, 13) + signEvidence(larger + 1, 13)) / 2;
    EXPECT_NEAR(next, signEvidence(larger, 12), 1e-9);
  }
}

TEST(Ratio, SixPairsOfOneSignAreTheFewestThatDecide) {
  const std::vector<double> gains = {1.2, 1.1, 1.3, 1.25, 1.15, 1.22};
  const auto five = ratioOf(pairsOf({gains.begin(), gains.end() - 1}), 0.05);
  EXPECT_FALSE(five.has_interval);
  const auto six = ratioOf(pairsOf(gains), 0.05);
  ASSERT_TRUE(six.has_interval);
  EXPECT_NEAR(six.low, 1.1, 1e-12);
  EXPECT_NEAR(six.high, 1.3, 1e-12);
  EXPECT_NEAR(six.middle, std::sqrt(1.2 * 1.22), 1e-12);
  EXPECT_TRUE(six.isAbove(1));
}

TEST(Ratio, BeforeAndAfterAreOfTheMiddlePair) {
  const std::vector<Pair> pairs = {{10, 30}, {20, 22}, {50, 40}};
  const auto odd = ratioOf(pairs, 0.05);
  EXPECT_DOUBLE_EQ(odd.before, 20);
  EXPECT_DOUBLE_EQ(odd.after, 22);
  EXPECT_DOUBLE_EQ(odd.middle, 22.0 / 20);
}

TEST(Ratio, OutliersDoNotMoveIt) {
  const auto result = ratioOf(pairsOf({1, 1.01, 0.99, 1, 1.02, 0.98, 500, 0.001}), 0.05);
  EXPECT_NEAR(result.middle, 1, 0.02);
  EXPECT_FALSE(result.isAbove(1));
}

// Looks after every pair: the share of searches that ever say "faster" or "slower" stays below alpha.
double falseAlarms(const std::function<double(std::mt19937_64&)>& log_ratio) {
  constexpr int kSearches = 2000, kPairs = 60;
  std::mt19937_64 random(7);
  int alarms = 0;
  for (int search = 0; search < kSearches; ++search) {
    std::vector<Pair> pairs;
    bool alarm = false;
    for (int i = 0; i < kPairs && !alarm; ++i) {
      pairs.push_back({1, std::exp(log_ratio(random))});
      const auto result = ratioOf(pairs, 0.05);
      alarm = result.isAbove(1) || result.isBelow(1);
    }
    alarms += alarm ? 1 : 0;
  }
  return static_cast<double>(alarms) / kSearches;
}

TEST(Ratio, HoldsHoweverOftenOneLooks) {
  EXPECT_LE(
      falseAlarms([](std::mt19937_64& random) { return std::normal_distribution<double>(0, 0.02)(random); }),
      0.05);
  EXPECT_LE(
      falseAlarms([](std::mt19937_64& random) { return std::cauchy_distribution<double>(0, 0.02)(random); }),
      0.05);
}

TEST(Ratio, FindsAnEffectOfTheSizeOfTheNoise) {
  std::mt19937_64 random(3);
  int found = 0;
  for (int search = 0; search < 200; ++search) {
    std::vector<Pair> pairs;
    for (int i = 0; i < 30; ++i)
      pairs.push_back({1, std::exp(std::normal_distribution<double>(0.02, 0.02)(random))});
    found += ratioOf(pairs, 0.05).isAbove(1) ? 1 : 0;
  }
  EXPECT_GE(found, 150);
}

}  // namespace
}  // namespace pitwall::tune_statistics_test
