// The decision of a comparison, on synthetic runs: how often it is wrong, and how often it finds what is
// there.
#include "analyzer/compare/decide.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "analyzer/compare/student_t.h"

namespace pitwall::comparing::decide_test {
namespace {

// Draws that are the same with every library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  double uniform() { return (static_cast<double>(engine_() >> 11) + 0.5) / 9007199254740992.0; }
  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * M_PI * uniform()); }
  double exponential() {
    return -std::log(uniform()) - 1;
  }                       // mean 0, sd 1: most runs alike, a few much slower
  double heavyTailed() {  // Student's t with 3 degrees of freedom, sd 1
    const double a = normal(), b = normal(), c = normal();
    return normal() / std::sqrt((a * a + b * b + c * c) / 3) / std::sqrt(3.0);
  }

 private:
  std::mt19937_64 engine_;
};

using Draw = std::function<double(Random&)>;
const Draw kNormal = [](Random& random) { return random.normal(); };
const Draw kSkewed = [](Random& random) { return random.exponential(); };
const Draw kHeavyTailed = [](Random& random) { return random.heavyTailed(); };

struct Program {
  double between = 0.03;  // standard deviation between runs
  double within = 0.10;   // between iterations of a run
  int iterations = 60;
  double slower = 0;  // than 10 ms, as a share
  Draw draw = kNormal;
};

std::vector<RunTime> runsOf(const Program& program, int count, Random& random) {
  std::vector<RunTime> runs;
  std::vector<double> iterations(static_cast<std::size_t>(program.iterations));
  for (int run = 0; run < count; ++run) {
    const double level = 10e6 * (1 + program.slower) * std::exp(program.between * program.draw(random));
    for (double& ns : iterations) ns = level * std::exp(program.within * random.normal());
    runs.push_back({medianOf(iterations), spreadOfParts(iterations)});
  }
  return runs;
}

double shareCalledDifferent(const Program& a, int a_runs, const Program& b, int b_runs, int trials) {
  Random random(20260301);
  int different = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const auto of_a = runsOf(a, a_runs, random), of_b = runsOf(b, b_runs, random);
    different += decide(of_a, of_b).differs();
  }
  return static_cast<double>(different) / trials;
}

// 2000 trials of 5 % have a standard error of 0.5 %.
constexpr int kTrials = 2000;
constexpr double kAtMost = 0.05 + 2 * 0.005;

TEST(StudentQuantile, IsThatOfPrintedTables) {
  EXPECT_NEAR(studentQuantile(0.975, 1), 12.7062, 1e-4);
  EXPECT_NEAR(studentQuantile(0.975, 2), 4.3027, 1e-4);
  EXPECT_NEAR(studentQuantile(0.975, 8), 2.3060, 1e-4);
  EXPECT_NEAR(studentQuantile(0.95, 30), 1.6973, 1e-4);
  EXPECT_NEAR(studentQuantile(0.9995, 4), 8.6103, 1e-4);
  EXPECT_NEAR(studentQuantile(0.975, 1e6), 1.95997, 1e-4);
  EXPECT_NEAR(studentQuantile(0.025, 8), -2.3060, 1e-4);
  EXPECT_NEAR(studentQuantile(0.5, 3), 0, 1e-9);
}

TEST(Decide, AProgramAgainstItselfIsRarelyCalledDifferent) {
  for (const double between : {0.005, 0.03, 0.10}) {
    for (const int runs : {3, 5, 8}) {
      const Program program{.between = between, .within = 0.05, .iterations = 20};
      EXPECT_LE(shareCalledDifferent(program, runs, program, runs, kTrials), kAtMost)
          << between << " " << runs;
    }
  }
}

TEST(Decide, WhateverTheDistributionOfRuns) {
  for (const Draw& draw : {kSkewed, kHeavyTailed}) {
    for (const int runs : {3, 5}) {
      const Program program{.between = 0.04, .within = 0.05, .iterations = 20, .draw = draw};
      EXPECT_LE(shareCalledDifferent(program, runs, program, runs, kTrials), kAtMost) << runs;
    }
  }
}

// What iterations of one run say is no reason to believe in a change: many of them make their median exact,
// and the next run differs all the same.
TEST(Decide, OneRunEachIsRarelyCalledDifferentHoweverLong) {
  for (const double between : {0.02, 0.05, 0.07, 0.11, 0.14}) {
    for (const int iterations : {5, 20, 500}) {
      const Program program{.between = between, .within = 0.05, .iterations = iterations};
      EXPECT_LE(shareCalledDifferent(program, 1, program, 1, 1000), 0.05 + 2 * 0.007)
          << between << " " << iterations;
      EXPECT_LE(shareCalledDifferent(program, 2, program, 2, 1000), 0.08) << between << " " << iterations;
    }
  }
}

TEST(Decide, FiveRunsASideFindATenthInNineOfTen) {
  for (const double between : {0.01, 0.02, 0.03}) {
    const Program before{.between = between}, after{.between = between, .slower = 0.10};
    EXPECT_GE(shareCalledDifferent(before, 5, after, 5, 1000), 0.90) << between;
  }
  const Program before, twice{.slower = 1};
  EXPECT_EQ(shareCalledDifferent(before, 1, twice, 1, 1000), 1) << "one run each finds what is large";
}

TEST(Decide, IntervalsHoldTheTruth) {
  Random random(7);
  const Program before{.between = 0.02}, after{.between = 0.06, .slower = 0.10};
  int held = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const Decision decision = decide(runsOf(before, 5, random), runsOf(after, 4, random));
    held += decision.low <= 0.10 && decision.high >= 0.10;
  }
  EXPECT_GE(held, kTrials * 0.94);
}

TEST(Decide, MoreRunsNeverWidenTheAssumption) {
  const auto half = [](int a_runs, int b_runs) {
    std::vector<RunTime> a, b;
    for (int i = 0; i < a_runs; ++i) a.push_back({10e6 * std::exp(i % 2 == 0 ? 0.03 : -0.03)});
    for (int i = 0; i < b_runs; ++i) b.push_back({10e6 * std::exp(i % 2 == 0 ? 0.03 : -0.03)});
    const Decision decision = decide(a, b);
    return std::log1p(decision.high) - std::log1p(decision.low);
  };
  EXPECT_GT(half(1, 1), half(1, 2));
  EXPECT_GT(half(1, 2), half(2, 2));
  EXPECT_GT(half(2, 2), half(3, 3));
  EXPECT_GT(half(3, 3), half(5, 5));
}

TEST(Decide, WhatCannotBeDecidedIsNot) {
  const std::vector<RunTime> some{{10e6}, {11e6}, {10.5e6}}, none, zero{{10e6}, {0}, {10e6}};
  EXPECT_EQ(decide(some, none).basis, Basis::none);
  EXPECT_EQ(decide(zero, some).basis, Basis::none);
  EXPECT_FALSE(decide(none, none).differs());
  // A coarse clock makes all runs equal; that is no proof that runs do not vary.
  const std::vector<RunTime> a{{1e6}, {1e6}, {1e6}}, b{{1.0005e6}, {1.0005e6}, {1.0005e6}};
  EXPECT_FALSE(decide(a, b).differs());
}

TEST(SpreadOfParts, SeesDriftAndNotIterations) {
  std::vector<double> steady, drifting;
  Random random(3);
  for (int i = 0; i < 1000; ++i) {
    steady.push_back(1e6 * std::exp(0.10 * random.normal()));
    drifting.push_back(1e6 * (1 + 0.3 * i / 1000.0));
  }
  EXPECT_LT(spreadOfParts(steady), 0.03);
  EXPECT_NEAR(spreadOfParts(drifting), 0.3 / std::sqrt(12) / 1.15, 0.02);
  EXPECT_EQ(spreadOfParts(std::vector<double>{1e6}), 0);
  EXPECT_EQ(spreadOfParts({}), 0);
}

}  // namespace
}  // namespace pitwall::comparing::decide_test
