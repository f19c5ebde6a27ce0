#include "analyzer/analysis/breakdown.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace pitwall::analysis::breakdown_test {
namespace {

OperatorFacts ofPhase(Phase phase) {
  OperatorFacts facts;
  facts.phase = phase;
  return facts;
}

const std::vector<OperatorFacts> kFacts = {ofPhase(Phase::forward), ofPhase(Phase::backward),
                                           ofPhase(Phase::update), ofPhase(Phase::none)};

TimeNs at(const CategoryTimes& times, Category category) { return times[static_cast<std::size_t>(category)]; }

// Operators with the rest of their process.
struct Process : Timeline {
  std::vector<OperatorInterval> runs;
};

// In time chunks that end at the cuts.
std::vector<CategoryTimes> sweep(Process process, std::span<const Iteration> iterations,
                                 std::vector<TimeNs> cuts = {}) {
  auto& runs = process.runs;
  process.operators = static_cast<std::int64_t>(runs.size());
  std::sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  CategorySweep categories(process, iterations, kFacts);
  cuts.push_back(INT64_MAX);
  TimeNs from = INT64_MIN;
  auto first = runs.begin();
  for (const TimeNs to : cuts) {
    const auto last = std::find_if(first, runs.end(), [to](const auto& op) { return op.start_ns >= to; });
    TimeNs pending_from = INT64_MAX;
    for (auto later = last; later != runs.end(); ++later)
      pending_from = std::min(pending_from, later->pushed_ns);
    categories.add({first, last}, from, to, pending_from);
    first = last;
    from = to;
  }
  return categories.finish();
}

// One iteration [0, 100).
CategoryTimes sweepOne(const Process& process) {
  const Iteration iteration{0, 0, 100};
  return sweep(process, {&iteration, 1}).at(0);
}

TEST(Breakdown, EachCategoryWhereItHolds) {
  Process timeline;
  timeline.runs = {{10, 30, 5, 1, OperatorId{1}},    // forward, queued 5..10
                   {30, 40, 20, 2, OperatorId{2}},   // backward
                   {45, 50, 40, 3, OperatorId{3}},   // update, queued 40..45
                   {90, 95, 90, 4, OperatorId{4}}};  // other
  timeline.data_waits = {{50, 70}};
  timeline.engine_waits = {{95, 98}};
  const auto times = sweepOne(timeline);
  EXPECT_EQ(at(times, Category::forward), 20);
  EXPECT_EQ(at(times, Category::backward), 10);
  EXPECT_EQ(at(times, Category::update), 5);
  EXPECT_EQ(at(times, Category::otherOperators), 5);
  EXPECT_EQ(at(times, Category::dataWait), 20);
  EXPECT_EQ(at(times, Category::engineOverhead), 5 + 5 + 3);
  EXPECT_EQ(at(times, Category::idle), 5 + 20 + 2);
  EXPECT_EQ(at(times, Category::unattributed), 0);
}

TEST(Breakdown, AnOperatorHidesWaitingForData) {
  Process timeline;
  timeline.runs = {{20, 60, 20, 1, OperatorId{1}}};
  timeline.data_waits = {{0, 100}};
  const auto times = sweepOne(timeline);
  EXPECT_EQ(at(times, Category::forward), 40);
  EXPECT_EQ(at(times, Category::dataWait), 60);
}

TEST(Breakdown, GapsOfABulkAreEngineOverhead) {
  Process timeline;
  timeline.bulks = {{10, 50}};
  timeline.runs = {{12, 20, 12, 1, OperatorId{1}}, {30, 50, 30, 2, OperatorId{1}}};
  const auto times = sweepOne(timeline);
  EXPECT_EQ(at(times, Category::engineOverhead), 2 + 10);
  EXPECT_EQ(at(times, Category::idle), 10 + 50);
}

TEST(Breakdown, WhatWasLostIsUnattributed) {
  Process timeline;
  timeline.runs = {{0, 10, 0, 1, OperatorId{1}}};
  timeline.losses = {{5, 40}};
  const auto times = sweepOne(timeline);
  EXPECT_EQ(at(times, Category::forward), 10);
  EXPECT_EQ(at(times, Category::unattributed), 30);
  EXPECT_EQ(at(times, Category::idle), 60);
}

TEST(Breakdown, WithoutOperatorsNothingIsKnown) {
  EXPECT_EQ(at(sweepOne(Process{}), Category::unattributed), 100);
}

TEST(Breakdown, WithoutSteadyIterationsAllAreSummed) {
  Process timeline;
  timeline.runs = {{0, 100, 0, 1, OperatorId{1}}};
  Iterations iterations{
      {{0, 0, 50, 8, IterationRole::warmUp}, {1, 50, 100, 8, IterationRole::last}}, "marks", ""};
  const auto breakdown = summarizeBreakdown(iterations, sweep(timeline, iterations.all));
  EXPECT_EQ(breakdown.iterations, 2);
  EXPECT_EQ(breakdown.wall_ns, 100);
  EXPECT_DOUBLE_EQ(breakdown.items_per_second, 16 / 100e-9);
}

// The independent computation: classifies every nanosecond separately.
CategoryTimes everyNanosecond(const Process& timeline, const Iteration& iteration) {
  const auto within = [](const std::vector<Interval>& intervals, TimeNs t) {
    for (const auto& i : intervals) {
      if (i.start_ns <= t && t < i.end_ns) return true;
    }
    return false;
  };
  CategoryTimes times{};
  for (TimeNs t = iteration.start_ns; t < iteration.end_ns; ++t) {
    bool running[4] = {}, pending = within(timeline.bulks, t);
    for (const auto& op : timeline.runs) {
      if (op.start_ns <= t && t < op.end_ns) running[op.op.value - 1] = true;
      if (op.pushed_ns <= t && t < op.start_ns) pending = true;
    }
    Category category = Category::idle;
    if (pending || within(timeline.engine_waits, t)) category = Category::engineOverhead;
    if (within(timeline.data_waits, t)) category = Category::dataWait;
    if (within(timeline.losses, t)) category = Category::unattributed;
    for (int phase = 3; phase >= 0; --phase) {
      if (running[phase]) category = static_cast<Category>(phase);
    }
    ++times[static_cast<std::size_t>(category)];
  }
  return times;
}

class RandomTrace : public testing::TestWithParam<unsigned> {};

TEST_P(RandomTrace, SumsToWallTimeAndAgreesWithEveryNanosecond) {
  std::mt19937 random(GetParam());
  const auto pick = [&](TimeNs low, TimeNs high) {
    return std::uniform_int_distribution<TimeNs>(low, high)(random);
  };
  Process timeline;
  for (int i = 0; i < 60; ++i) {
    const TimeNs start = pick(-50, 2000);
    timeline.runs.push_back({start, start + pick(0, 40), start - pick(0, 30), 0,
                             OperatorId{static_cast<std::uint32_t>(pick(1, 4))}});
  }
  for (auto* intervals : {&timeline.bulks, &timeline.data_waits, &timeline.engine_waits, &timeline.losses}) {
    for (int i = 0; i < 10; ++i) {
      const TimeNs start = pick(-50, 2000);
      intervals->push_back({start, start + pick(0, 60)});
    }
  }
  std::vector<Iteration> iterations;
  for (TimeNs start = pick(0, 30); start < 1900;) {
    const TimeNs end = start + pick(1, 300);
    iterations.push_back({static_cast<std::int64_t>(iterations.size()), start, end});
    start = end + pick(0, 1) * pick(0, 50);  // with and without gaps between iterations
  }
  const auto times = sweep(timeline, iterations);
  ASSERT_EQ(times.size(), iterations.size());
  for (const int chunks : {1, 3, 20, 200}) {
    std::vector<TimeNs> cuts;
    for (int i = 0; i < chunks; ++i) cuts.push_back(pick(-100, 2100));
    std::sort(cuts.begin(), cuts.end());
    EXPECT_EQ(sweep(timeline, iterations, cuts), times) << chunks << " cuts";
  }
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_EQ(std::accumulate(times[i].begin(), times[i].end(), TimeNs{0}),
              iterations[i].end_ns - iterations[i].start_ns);
    EXPECT_EQ(times[i], everyNanosecond(timeline, iterations[i])) << "iteration " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTrace, testing::Range(0U, 20U));

}  // namespace
}  // namespace pitwall::analysis::breakdown_test
