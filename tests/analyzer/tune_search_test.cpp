// A search over simulated programs: what it runs, what it keeps, and that it continues from its runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/analyzer/searched.h"

namespace pitwall::tune_search_test {
namespace {

using test::finish;
using test::numberOf;
using test::rate;
using test::searchOver;
using testing::HasSubstr;
using tuning::Assignments;
using tuning::Candidate;
using tuning::Conclusion;
using tuning::RunResult;
using tuning::Search;
using tuning::SearchOptions;

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

// Whatever the order of the runs.
TEST(Search, EachFailureHasItsOwnCause) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SearchOptions options;
    options.seed = seed;
    Search search = searchOver({"A=2,3,4,5", "B=1"}, options);
    finish(search, [](const Assignments& settings) {
      RunResult result = rate(settings.contains("B") ? 2 : 1);
      if (settings.contains("A")) {
        result.rate = 0;
        result.disturbed = true;
        result.cause = "exit code " + settings.at("A");
      }
      return result;
    });
    for (std::size_t i = 1; i <= 4; ++i) {
      EXPECT_EQ(search.verdict(i).conclusion, Conclusion::failed);
      EXPECT_EQ(search.verdict(i).why, "exit code " + std::to_string(i + 1));
    }
    EXPECT_EQ(tuning::textOf(search.candidates()[search.best()].settings), "B=1");
  }
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

TEST(Search, SaysWhatIsPreferredWhereTheBudgetEndsTheScreening) {
  SearchOptions options;
  options.most_runs = 10;
  std::vector<Candidate> candidates(3);
  for (std::size_t i = 1; i < 3; ++i) {
    candidates[i].settings = {{"A", std::to_string(i)}};
    candidates[i].group = "one/rule";
  }
  candidates[2].rule = "one/rule";
  Search search(candidates, options);
  finish(search, [](const Assignments& settings) {
    return rate(settings.empty() ? 1 : 2 - 0.01 * (numberOf(settings, "A", 0) - 1));
  });
  EXPECT_EQ(search.verdict(1).conclusion, Conclusion::screenedOut);
  EXPECT_THAT(search.verdict(1).why, HasSubstr("A=2 is preferred"));
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
