// Many searches over simulated programs: how often they find the best settings, how often they report a gain where there is none, and after
// how many runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/analyzer/searched.h"

namespace pitwall::tune_searches_test {
namespace {

using test::finish;
using test::numberOf;
using test::parametersOf;
using test::rate;
using test::searchOver;
using tuning::Assignments;
using tuning::Candidate;
using tuning::Parameter;
using tuning::Search;
using tuning::SearchOptions;

// The natural logarithm of a program's speed.
using Speed = std::function<double(const Assignments&)>;

struct Searched {
  int gains = 0;    // searches with a gain
  int as_good = 0;  // those within 2 % of the best of all combinations
  double mean_runs = 0;
  int combinations = 1;
};

constexpr int kSeeds = 200;

// Many searches. Each run has noise of 1 %, and one in twenty is also delayed.
Searched searchedOften(const std::vector<std::string>& texts,
                       const std::map<std::string, std::string>& current, const Speed& speed) {
  SearchOptions options;
  options.parameters = parametersOf(texts);
  Searched searched;
  double best = speed({});
  std::vector<Assignments> combinations(1);
  for (const Parameter& parameter : options.parameters) {
    std::vector<Assignments> longer;
    for (const Assignments& shorter : combinations) {
      for (const std::string& value : parameter.values) {
        longer.push_back(shorter);
        longer.back()[parameter.name] = value;
      }
    }
    combinations = std::move(longer);
  }
  for (const Assignments& settings : combinations) best = std::max(best, speed(settings));
  searched.combinations = static_cast<int>(combinations.size());
  std::vector<Candidate> candidates(1);
  for (const Parameter& parameter : options.parameters) {
    const auto known = current.find(parameter.name);
    for (Candidate& candidate : candidatesOf(parameter, known == current.end() ? "" : known->second))
      candidates.push_back(std::move(candidate));
  }
  std::mt19937_64 random(11);
  std::normal_distribution<double> noise(0, 0.01);
  std::exponential_distribution<double> delay(10);
  for (int seed = 1; seed <= kSeeds; ++seed) {
    options.seed = static_cast<std::uint64_t>(seed);
    Search search(candidates, options);
    finish(search, [&](const Assignments& settings) {
      const double delayed = random() % 20 == 0 ? delay(random) : 0;
      return rate(std::exp(speed(settings) + noise(random) - delayed));
    });
    searched.gains += search.best() != 0 ? 1 : 0;
    searched.as_good += speed(search.candidates()[search.best()].settings) >= best - 0.02 ? 1 : 0;
    searched.mean_runs += static_cast<double>(search.runs()) / kSeeds;
  }
  return searched;
}

// Trying everything is six runs of each combination.
double runsOfEverything(const Searched& searched) { return 6.0 * searched.combinations; }

TEST(Searches, FindsWhatTryingEverythingFindsWithAThirdOfTheRuns) {
  // A range with an optimum, and a list.
  const Searched range = searchedOften({"A=1..12", "B=8,16,32,64"}, {}, [](const Assignments& settings) {
    const double a = numberOf(settings, "A", 1), b = numberOf(settings, "B", 8);
    return -0.03 * (a - 6) * (a - 6) - 0.1 * std::fabs(std::log2(b / 32));
  });
  EXPECT_GE(range.as_good, 0.95 * kSeeds);
  EXPECT_LE(range.mean_runs, runsOfEverything(range) / 3);
  // Threads, a switch that costs, one that gains a little and one without an effect.
  const Searched switches = searchedOften(
      {"A=1..4", "B=0,1", "C=0,1", "D=0,1"}, {{"A", "1"}, {"B", "1"}}, [](const Assignments& settings) {
        const double a = numberOf(settings, "A", 1);
        return (a == 2  ? 0.5
                : a > 2 ? -0.1
                        : 0) +
               (numberOf(settings, "B", 1) == 0 ? 0.25 : 0) + (numberOf(settings, "C", 1) == 0 ? -0.03 : 0);
      });
  EXPECT_GE(switches.as_good, 0.95 * kSeeds);
  EXPECT_LE(switches.mean_runs, runsOfEverything(switches) / 3);
  // A switch that gains nothing alone, and more than the noise beside the right number of threads.
  const Searched hidden =
      searchedOften({"A=1..4", "B=0,1", "C=0,1,2,3"}, {{"A", "1"}}, [](const Assignments& settings) {
        const bool a = numberOf(settings, "A", 1) >= 2, b = numberOf(settings, "B", 0) == 1;
        return (a ? 0.3 : 0) + (a && b ? 0.08 : 0);
      });
  EXPECT_GE(hidden.as_good, 0.95 * kSeeds);
  EXPECT_LE(hidden.mean_runs, runsOfEverything(hidden) / 3);
  // Two settings that gain more together than alone.
  const Searched together =
      searchedOften({"A=1..4", "B=0,1", "C=0,1,2"}, {}, [](const Assignments& settings) {
        const bool a = numberOf(settings, "A", 1) >= 2, b = numberOf(settings, "B", 0) == 1;
        return (a ? 0.2 : 0) + (b ? 0.06 : 0) + (a && b ? 0.1 : 0);
      });
  EXPECT_GE(together.as_good, 0.95 * kSeeds);
  EXPECT_LE(together.mean_runs, runsOfEverything(together) / 3);
}

TEST(Searches, ReportsNoGainOfAProgramThatDependsOnNothing) {
  const Searched many =
      searchedOften({"A=1..8", "B=8,16,32", "C=0,1"}, {}, [](const Assignments&) { return 0.0; });
  EXPECT_LE(many.gains, 0.05 * kSeeds);
  EXPECT_LE(many.mean_runs, runsOfEverything(many) / 3);
  const Searched few = searchedOften({"A=1"}, {}, [](const Assignments&) { return 0.0; });
  EXPECT_LE(few.gains, 0.05 * kSeeds);
}

TEST(Searches, KeepsNoPartWithoutAGainBesideAGain) {
  int with_b = 0;
  std::mt19937_64 random(4);
  std::normal_distribution<double> noise(0, 0.02);
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SearchOptions options;
    options.seed = seed;
    Search search = searchOver({"A=1", "B=1..8", "C=1,2,3"}, options);
    finish(search, [&](const Assignments& settings) {
      return rate((settings.contains("A") ? 1.3 : 1) * std::exp(noise(random)));
    });
    const Assignments& best = search.candidates()[search.best()].settings;
    with_b += best.contains("B") || best.contains("C") ? 1 : 0;
  }
  EXPECT_LE(with_b, 0.05 * kSeeds);
}

}  // namespace
}  // namespace pitwall::tune_searches_test
