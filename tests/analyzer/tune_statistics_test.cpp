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

// The mixture over probabilities above 1/2, summed in small steps of t where 1 - p = exp(-t) / 2: that makes the weight near 1 smooth.
double evidenceByHand(int larger, int pairs) {
  constexpr double kWeight = 0.09, kStep = 1e-3;
  double of_pairs = 0, of_none = 0;
  for (double t = kStep / 2; t < 300; t += kStep) {
    const double q = std::exp(-t) / 2, p = 1 - q;
    const double weight = std::pow(p * q, kWeight - 1) * q;
    of_pairs += weight * std::pow(2 * p, larger) * std::pow(2 * q, pairs - larger);
    of_none += weight;
  }
  return of_pairs / of_none;
}

TEST(SignEvidence, IsTheMixturesLikelihoodRatio) {
  EXPECT_NEAR(signEvidence(0, 0), 1, 1e-12);
  for (const int pairs : {1, 2, 5, 12, 29}) {
    for (const int larger : {0, pairs / 2, pairs - 1, pairs})
      EXPECT_NEAR(signEvidence(larger, pairs), evidenceByHand(larger, pairs),
                  1e-4 * evidenceByHand(larger, pairs));
  }
}

TEST(SignEvidence, StaysFiniteForManyPairs) {
  EXPECT_GT(signEvidence(500, 500), 1e100);
  EXPECT_TRUE(std::isfinite(signEvidence(500, 500)));
  EXPECT_LT(signEvidence(0, 500), 1e-3);
  EXPECT_GT(signEvidence(0, 500), 0);
}

TEST(SignEvidence, TheFewestPairsOfOneSign) {
  EXPECT_EQ(tuning::ranksOutside(4, 0.0372), -1);
  EXPECT_EQ(tuning::ranksOutside(5, 0.0372), 0);
  EXPECT_EQ(tuning::ranksOutside(6, 0.0096), -1);
  EXPECT_EQ(tuning::ranksOutside(7, 0.0096), 0);
}

TEST(SignEvidence, IsAMartingaleForFairCoins) {
  for (int larger = 0; larger <= 12; ++larger) {
    const double next = (signEvidence(larger, 13) + signEvidence(larger + 1, 13)) / 2;
    EXPECT_NEAR(next, signEvidence(larger, 12), 1e-9);
  }
}

TEST(Ratio, FivePairsOfOneSignAreTheFewestThatDecide) {
  const std::vector<double> gains = {1.2, 1.1, 1.3, 1.25, 1.15};
  const auto four = ratioOf(pairsOf({gains.begin(), gains.end() - 1}), 0.05);
  EXPECT_FALSE(four.has_interval);
  EXPECT_NEAR(four.middle, std::sqrt(1.2 * 1.25), 1e-12);
  const auto five = ratioOf(pairsOf(gains), 0.05);
  ASSERT_TRUE(five.has_interval);
  EXPECT_NEAR(five.low, 1.1, 1e-12);
  EXPECT_NEAR(five.high, 1.3, 1e-12);
  EXPECT_NEAR(five.middle, 1.2, 1e-12);
  EXPECT_TRUE(five.isAbove(1));
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

// Looks after every pair: the share of searches that ever say "faster" stays below alpha.
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
      alarm = result.isAbove(1);
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
