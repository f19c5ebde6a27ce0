// A search over simulated programs: what it runs, what it keeps, and that it continues from its runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "analyzer/tune/search.h"

namespace pitwall::tune_search_test {
namespace {

using testing::HasSubstr;
using tuning::Assignments;
using tuning::Candidate;
using tuning::Conclusion;
using tuning::Parameter;
using tuning::Run;
using tuning::RunResult;
using tuning::Search;
using tuning::SearchOptions;

using ProgramModel = std::function<RunResult(const Assignments&)>;

std::vector<Parameter> parametersOf(const std::vector<std::string>& texts) {
  std::vector<Parameter> parameters;
  for (const std::string& text : texts) parameters.push_back(tuning::parameterFrom(text, {}).value());
  return parameters;
}

std::vector<Candidate> candidatesFor(const std::vector<Parameter>& parameters) {
  std::vector<Candidate> all(1);
  for (const Parameter& parameter : parameters) {
    for (Candidate& candidate : candidatesOf(parameter, "")) all.push_back(std::move(candidate));
  }
  return all;
}

Search searchOver(const std::vector<std::string>& texts, SearchOptions options = {}) {
  options.parameters = parametersOf(texts);
  return {candidatesFor(options.parameters), options};
}

struct Made {
  Run run;
  RunResult result;
};

std::vector<Made> finish(Search& search, const ProgramModel& program) {
  std::vector<Made> made;
  while (const auto run = search.next()) {
    const RunResult result = program(search.candidates()[run->candidate].settings);
    made.push_back({*run, result});
    search.add(result);
    if (made.size() > 2000) break;
  }
  return made;
}

double numberOf(const Assignments& settings, const std::string& name, double otherwise) {
  const auto found = settings.find(name);
  return found == settings.end() ? otherwise : std::stod(found->second);
}

RunResult rate(double value) {
  RunResult result;
  result.rate = value;
  result.seconds = 1;
  return result;
}

// The best is A=6 with B=32; the effects multiply. Noise of 1 %.
class Planted {
 public:
  RunResult operator()(const Assignments& settings) {
    const double a = numberOf(settings, "A", 1), b = numberOf(settings, "B", 8);
    return rate(std::exp(-0.03 * (a - 6) * (a - 6) - 0.1 * std::fabs(std::log2(b / 32)) + noise_(random_)));
  }

 private:
  std::mt19937_64 random_{5};
  std::normal_distribution<double> noise_{0, 0.01};
};

TEST(Search, FindsAPlantedBestSettingAndMeasuresIt) {
  Search search = searchOver({"A=1..12", "B=8,16,32,64"});
  finish(search, Planted());
  EXPECT_EQ(tuning::textOf(search.candidates()[search.best()].settings), "A=6 B=32");
  const auto verdict = search.verdict(search.best());
  EXPECT_EQ(verdict.beside, 0U);
  EXPECT_TRUE(verdict.measured.isAbove(1));
  EXPECT_NEAR(std::log(verdict.measured.middle), 0.03 * 25 + 0.1 * 2, 0.03);
}

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

TEST(Search, FindsWhatTryingEverythingFindsWithAThirdOfTheRuns) {
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

TEST(Search, ReportsNoGainOfAProgramThatDependsOnNothing) {
  const Searched many =
      searchedOften({"A=1..8", "B=8,16,32", "C=0,1"}, {}, [](const Assignments&) { return 0.0; });
  EXPECT_LE(many.gains, 0.05 * kSeeds);
  EXPECT_LE(many.mean_runs, runsOfEverything(many) / 3);
  const Searched few = searchedOften({"A=1"}, {}, [](const Assignments&) { return 0.0; });
  EXPECT_LE(few.gains, 0.05 * kSeeds);
}

TEST(Search, KeepsNoPartWithoutAGainBesideAGain) {
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

TEST(Search, KeepsWhatAddsToWhatIsKeptOnly) {
  // B gains nothing beside A: both remove the same wait.
  Search search = searchOver({"A=1", "B=1", "C=1"});
  std::mt19937_64 random(2);
  std::normal_distribution<double> noise(0, 0.005);
  finish(search, [&](const Assignments& settings) {
    const bool waits = !settings.contains("A") && !settings.contains("B");
    const double seconds = (waits                    ? 1.0
                            : settings.contains("A") ? 0.6
                                                     : 0.65) +
                           (settings.contains("C") ? 0.8 : 1);
    return rate(std::exp(noise(random)) / seconds);
  });
  EXPECT_EQ(tuning::textOf(search.candidates()[search.best()].settings), "A=1 C=1");
  EXPECT_EQ(search.verdict(2).conclusion, Conclusion::noGain);
  EXPECT_THAT(search.verdict(2).why, HasSubstr("beside A=1"));
}

TEST(Search, SaysWhatAPartAddsToWhat) {
  Search search = searchOver({"A=1", "B=1"});
  finish(search, [](const Assignments& settings) {
    return rate((settings.contains("A") ? 2.0 : 1) * (settings.contains("B") ? 1.5 : 1));
  });
  const auto first = search.verdict(1), second = search.verdict(2), both = search.verdict(search.best());
  EXPECT_EQ(tuning::textOf(search.candidates()[search.best()].settings), "A=1 B=1");
  EXPECT_EQ(first.beside, 0U);
  EXPECT_NEAR(first.measured.middle, 2, 1e-9);
  EXPECT_EQ(second.beside, 1U);
  EXPECT_NEAR(second.measured.middle, 1.5, 1e-9);
  EXPECT_EQ(second.conclusion, Conclusion::kept);
  EXPECT_EQ(both.beside, 0U);
  EXPECT_NEAR(both.measured.middle, 3, 1e-9);
  EXPECT_TRUE(both.measured.has_interval);
}

// A slows down what B gains: the parts behind A are measured anew without it.
TEST(Search, MeasuresAnewWithoutAPartThatIsNoGain) {
  std::mt19937_64 random(6);
  std::normal_distribution<double> noise(0, 0.002);
  int a_runs = 0;
  Search search = searchOver({"A=1", "B=1"});
  finish(search, [&](const Assignments& settings) {
    const bool a = settings.contains("A"), b = settings.contains("B");
    // At first A looks like the larger gain.
    const double of_a = a ? (a_runs++ == 0 ? 1.5 : 0.9) : 1;
    return rate(of_a * (b ? (a ? 1.0 : 1.2) : 1) * std::exp(noise(random)));
  });
  EXPECT_EQ(tuning::textOf(search.candidates()[search.best()].settings), "B=1");
  EXPECT_EQ(search.verdict(1).conclusion, Conclusion::noGain);
  EXPECT_EQ(search.verdict(2).beside, 0U);
  EXPECT_GE(search.verdict(2).measured.pairs, 7);  // at a lower level five pairs do not suffice
  EXPECT_NEAR(search.verdict(2).measured.middle, 1.2, 0.01);
}

TEST(Search, DoesNotCombineTwoValuesOfOneVariable) {
  std::vector<Candidate> candidates(3);
  candidates[1].settings = {{"A", "10"}};
  candidates[1].group = "one/rule";
  candidates[2].settings = {{"A", "11"}};
  candidates[2].group = "another/rule";
  Search search(candidates, {});
  finish(search, [](const Assignments& settings) {
    return rate(settings.empty() ? 1 : 2 + numberOf(settings, "A", 0));
  });
  EXPECT_EQ(tuning::textOf(search.candidates()[search.best()].settings), "A=11");
  EXPECT_EQ(search.candidates().size(), 3U);
  EXPECT_EQ(search.verdict(1).conclusion, Conclusion::notNeeded);
}

TEST(Search, PrefersWhatARuleProposesToNeighboursThatAreNoBetter) {
  std::vector<Candidate> candidates(4);
  for (std::size_t i = 1; i < 4; ++i) {
    candidates[i].settings = {{"A", std::to_string(i)}};
    candidates[i].group = "one/rule";
  }
  candidates[2].rule = "one/rule";
  Search search(candidates, {});
  finish(search, [](const Assignments& settings) { return rate(settings.empty() ? 1 : 2); });
  EXPECT_EQ(tuning::textOf(search.candidates()[search.best()].settings), "A=2");
}

TEST(Search, ARunThatFailsIsAResultWithItsCause) {
  Search search = searchOver({"A=1", "B=1"});
  finish(search, [](const Assignments& settings) {
    RunResult result = rate(settings.contains("B") ? 2 : 1);
    if (settings.contains("A")) {
      result.rate = 0;
      result.cause = "exit code 3";
    }
    return result;
  });
  EXPECT_EQ(search.verdict(1).conclusion, Conclusion::failed);
  EXPECT_EQ(search.verdict(1).why, "exit code 3");
  EXPECT_EQ(tuning::textOf(search.candidates()[search.best()].settings), "B=1");
}

TEST(Search, AFailureBesideOtherProgramsHasASecondChance) {
  Search search = searchOver({"A=1"});
  bool has_failed = false;
  finish(search, [&](const Assignments& settings) {
    RunResult result = rate(settings.contains("A") ? 2 : 1);
    if (settings.contains("A") && !has_failed) {
      has_failed = true;
      result.rate = 0;
      result.disturbed = true;
      result.cause = "did not end";
    }
    return result;
  });
  EXPECT_EQ(search.verdict(1).conclusion, Conclusion::kept);
}

TEST(Search, EndsWhenTheUnchangedProgramFailsAgainAndAgain) {
  Search search = searchOver({"A=1"});
  const auto made = finish(search, [](const Assignments& settings) {
    RunResult result = rate(1);
    if (settings.empty()) {
      result.rate = 0;
      result.cause = "exit code 1";
    }
    return result;
  });
  EXPECT_LE(made.size(), 6U);
  EXPECT_THAT(search.ended(), HasSubstr("the unchanged program failed 3 times in a row: exit code 1"));
  EXPECT_EQ(search.best(), 0U);
}

TEST(Search, DoesNotKeepWhatMakesTheResultWorse) {
  Search search = searchOver({"A=1"});
  finish(search, [](const Assignments& settings) {
    RunResult result = rate(settings.contains("A") ? 2 : 1);
    result.keep = settings.contains("A") ? 0.90 : 0.92;
    return result;
  });
  EXPECT_EQ(search.best(), 0U);
  EXPECT_EQ(search.verdict(1).conclusion, Conclusion::worse);
}

TEST(Search, StopsAtItsBudget) {
  SearchOptions options;
  options.most_runs = 16;
  Search search = searchOver({"A=1..12", "B=8,16,32,64"}, options);
  EXPECT_LE(finish(search, Planted()).size(), 16U);
  EXPECT_EQ(search.ended(), "the budget is over");
}

TEST(Search, ConfirmsTheBestWhereTheBudgetDoesNotSufficeForAll) {
  SearchOptions options;
  options.most_runs = 24;
  Search search = searchOver({"A=1", "B=1", "C=1"}, options);
  finish(search, [](const Assignments& settings) {
    return rate((settings.contains("A") ? 2.0 : 1) * (settings.contains("B") ? 1.5 : 1) *
                (settings.contains("C") ? 1.2 : 1));
  });
  EXPECT_EQ(tuning::textOf(search.candidates()[search.best()].settings), "A=1");
  EXPECT_EQ(search.verdict(2).conclusion, Conclusion::undecided);
  EXPECT_THAT(search.verdict(2).why, HasSubstr("1.5x in the screening; the budget does not suffice"));
}

TEST(Search, RepeatsRoundsInWhichOtherProgramsRanButNotForEver) {
  Search search = searchOver({"A=1"});
  const auto made = finish(search, [](const Assignments& settings) {
    RunResult result = rate(settings.contains("A") ? 2 : 1);
    result.disturbed = true;
    return result;
  });
  EXPECT_GT(search.repeatedRounds(), 0);
  EXPECT_GE(search.disturbedRounds(), 5);
  EXPECT_NE(search.best(), 0U);
  EXPECT_LE(made.size(), 30U);
}

TEST(Search, ContinuesFromItsRunsAsIfItHadNotStopped) {
  Planted program;
  Search whole = searchOver({"A=1..8", "B=8,16,32"});
  const auto made = finish(whole, std::ref(program));
  for (std::size_t stop = 0; stop < made.size(); ++stop) {
    Search again = searchOver({"A=1..8", "B=8,16,32"});
    for (std::size_t i = 0; i < stop; ++i) {
      const auto run = again.next();
      ASSERT_TRUE(run.has_value());
      ASSERT_EQ(run->candidate, made[i].run.candidate);
      again.add(made[i].result);
    }
    const auto run = again.next();
    ASSERT_TRUE(run.has_value());
    EXPECT_EQ(run->candidate, made[stop].run.candidate) << stop;
    EXPECT_EQ(run->round, made[stop].run.round) << stop;
  }
}

TEST(Parameter, ReadsRangesAndLists) {
  EXPECT_EQ(tuning::parameterFrom("A=3..5", {}).value().values, (std::vector<std::string>{"3", "4", "5"}));
  EXPECT_EQ(tuning::parameterFrom("A=x,0.5", {}).value().values, (std::vector<std::string>{"x", "0.5"}));
  EXPECT_TRUE(tuning::parameterFrom("A=1,2", {"--batch={A}"}).value().in_command);
  for (const char* bad : {"A", "=1", "A=", "A=5..3", "A=1,,2", "A=1,1", "A=x..3"}) {
    const auto parameter = tuning::parameterFrom(bad, {});
    ASSERT_FALSE(parameter.has_value()) << bad;
    EXPECT_THAT(parameter.error().message, HasSubstr("write NAME=1..8 or NAME=16,32,64"));
  }
  EXPECT_FALSE(tuning::parameterFrom("A=1", {"{A}"}).has_value());
}

}  // namespace
}  // namespace pitwall::tune_search_test
