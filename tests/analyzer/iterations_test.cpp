#include "analyzer/analysis/iterations.h"

#include <gtest/gtest.h>

#include "analyzer/analysis/sequence.h"

namespace pitwall::analysis {
namespace {

std::vector<Iteration> withDurations(const std::vector<TimeNs>& durations) {
  std::vector<Iteration> iterations;
  TimeNs now = 0;
  for (const auto duration : durations) {
    iterations.push_back({static_cast<std::int64_t>(iterations.size()), now, now + duration});
    now += duration;
  }
  return iterations;
}

// Operators 100 ns apart that run 50 ns each, with the given facts.
Timeline withSequence(const std::vector<std::uint32_t>& sequence) {
  Timeline timeline;
  TimeNs now = 0;
  for (const auto op : sequence) {
    timeline.operators.push_back({now, now + 50, now, 0, OperatorId{op}});
    now += 100;
  }
  timeline.end_ns = now;
  return timeline;
}

std::vector<std::uint32_t> repeated(const std::vector<std::uint32_t>& once, int times,
                                    std::vector<std::uint32_t> before = {}) {
  for (int i = 0; i < times; ++i) before.insert(before.end(), once.begin(), once.end());
  return before;
}

TEST(Roles, WarmUpAndLastAreDropped) {
  auto iterations = withDurations({900, 100, 100, 100, 100});
  assignRoles(iterations);
  EXPECT_EQ(iterations[0].role, IterationRole::warmUp);
  EXPECT_EQ(iterations[1].role, IterationRole::warmUp);
  EXPECT_EQ(iterations[2].role, IterationRole::steady);
  EXPECT_EQ(iterations[4].role, IterationRole::last);
}

TEST(Roles, AnEvaluationBetweenEpochsIsAnOutlier) {
  auto iterations = withDurations({100, 100, 101, 99, 100, 102, 900, 98, 100, 103, 100, 100});
  assignRoles(iterations);
  EXPECT_EQ(iterations[6].role, IterationRole::outlier);
  for (const std::size_t i : {2, 3, 4, 5, 7, 8, 9, 10})
    EXPECT_EQ(iterations[i].role, IterationRole::steady) << i;
}

TEST(Roles, ModerateJitterIsNoOutlierHoweverSmallTheDeviation) {
  auto iterations = withDurations({100, 100, 100, 100, 100, 100, 100, 140, 100, 100, 100});
  assignRoles(iterations);
  EXPECT_EQ(iterations[7].role, IterationRole::steady);
}

TEST(Iterations, MarksBoundThem) {
  auto timeline = withSequence(repeated({1, 2}, 10));
  std::vector<IterationMark> marks;
  for (int i = 0; i < 8; ++i) marks.push_back({i, i * 250, 16});
  const auto found = findIterations(timeline, marks);
  EXPECT_EQ(found.source, "marks");
  ASSERT_EQ(found.all.size(), 8U);
  EXPECT_EQ(found.all[3].start_ns, 750);
  EXPECT_EQ(found.all[3].end_ns, 1000);
  EXPECT_EQ(found.all[3].items, 16);
  EXPECT_EQ(found.all[7].end_ns, 2000);  // the end of the trace
  EXPECT_EQ(found.all[7].role, IterationRole::last);
}

TEST(Iterations, MarksThatRunAheadOfTheWorkAreSetAside) {
  auto timeline = withSequence(repeated({1, 2, 3}, 10));
  std::vector<IterationMark> marks;
  for (int i = 0; i < 10; ++i) marks.push_back({i, i * 10, 16});  // all before the second operator
  const auto found = findIterations(timeline, marks);
  EXPECT_EQ(found.source, "repeating sequence");
  EXPECT_FALSE(found.note.empty());
  ASSERT_EQ(found.all.size(), 10U);
  EXPECT_EQ(found.all[4].end_ns - found.all[4].start_ns, 300);
  EXPECT_EQ(found.all[4].items, 16);
}

TEST(Iterations, WithoutMarksOrRepetitionTheTraceIsOne) {
  const auto found = findIterations(withSequence({1, 2, 3, 4, 5}), {});
  EXPECT_EQ(found.source, "whole trace");
  ASSERT_EQ(found.all.size(), 1U);
  EXPECT_EQ(found.all[0].end_ns, 500);
}

TEST(Iterations, AnEmptyTraceHasNone) { EXPECT_TRUE(findIterations(Timeline{}, {}).all.empty()); }

TEST(Sequence, FindsThePeriodAfterAPrologue) {
  const auto starts = repeatingStarts(withSequence(repeated({1, 2, 3, 4}, 8, {9, 8, 9})).operators);
  ASSERT_EQ(starts.size(), 8U);
  EXPECT_EQ(starts[0], 300);
  for (std::size_t i = 1; i < starts.size(); ++i) EXPECT_EQ(starts[i] - starts[i - 1], 400);
}

TEST(Sequence, EqualLayersInsideAnIterationDoNotShortenIt) {
  std::vector<std::uint32_t> once(30, 1);
  once.push_back(2);
  const auto starts = repeatingStarts(withSequence(repeated(once, 6)).operators);
  ASSERT_EQ(starts.size(), 6U);
  EXPECT_EQ(starts[1] - starts[0], 3100);
}

TEST(Sequence, AnEvaluationNowAndThenDoesNotConfuse) {
  std::vector<std::uint32_t> sequence;
  for (int i = 0; i < 20; ++i) {
    sequence = repeated({1, 2, 3, 4, 5}, 1, sequence);
    if (i % 10 == 9) sequence = repeated({6, 7}, 1, sequence);
  }
  const auto starts = repeatingStarts(withSequence(sequence).operators);
  EXPECT_EQ(starts.size(), 20U);
}

TEST(Sequence, RandomOperatorsDoNotRepeat) {
  std::vector<std::uint32_t> sequence;
  std::uint32_t state = 1;
  for (int i = 0; i < 500; ++i) sequence.push_back((state = state * 1664525U + 1013904223U) % 7 + 1);
  EXPECT_TRUE(repeatingStarts(withSequence(sequence).operators).empty());
}

TEST(Sequence, TwoRepetitionsAreNotEnough) {
  EXPECT_TRUE(repeatingStarts(withSequence(repeated({1, 2, 3}, 2)).operators).empty());
}

}  // namespace
}  // namespace pitwall::analysis
