#include "analyzer/analysis/iterations.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "analyzer/analysis.h"
#include "analyzer/analysis/sequence.h"
#include "db/meta.h"
#include "db/sql_value.h"
#include "db/store.h"
#include "tests/support/temp_folder.h"
#include "tests/support/trace_text.h"

namespace pitwall::analysis::iterations_test {
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
std::vector<OperatorInterval> withSequence(const std::vector<std::uint32_t>& sequence) {
  std::vector<OperatorInterval> operators;
  for (const auto op : sequence) {
    const auto now = static_cast<TimeNs>(100 * operators.size());
    operators.push_back({now, now + 50, now, 0, OperatorId{op}});
  }
  return operators;
}

// Shows them some at a time.
OperatorSource inChunksOf(std::vector<OperatorInterval> operators, std::size_t at_once) {
  std::vector<TimeNs> pending_from(operators.size() + 1, INT64_MAX);
  for (std::size_t i = operators.size(); i-- > 0;)
    pending_from[i] = std::min(pending_from[i + 1], operators[i].pushed_ns);
  return [operators = std::move(operators), pending_from, at_once](const OperatorVisitor& visitor) {
    const std::span<const OperatorInterval> all = operators;
    for (std::size_t from = 0; from < all.size(); from += at_once) {
      const std::size_t to = std::min(all.size(), from + at_once);
      visitor(all.subspan(from, to - from), pending_from[to]);
    }
    return Status();
  };
}

std::vector<TimeNs> startsOf(const std::vector<OperatorInterval>& operators) {
  return findRepetition(inChunksOf(operators, 7)).value().starts;
}

Iterations found(const std::vector<OperatorInterval>& operators, std::span<const IterationMark> marks) {
  Timeline timeline;
  for (const auto& op : operators) {
    const TimeNs length = op.end_ns - op.start_ns;
    ++timeline.operators;
    timeline.operator_ns += length;
    if (!marks.empty() && op.start_ns >= marks.back().time_ns) timeline.operator_after_marks_ns += length;
    timeline.end_ns = op.start_ns + 100;
  }
  return findIterations(timeline, marks, [&] { return findRepetition(inChunksOf(operators, 5)); }).value();
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
  auto iterations = withDurations({100, 100, 101, 99, 100, 102, 400, 98, 100, 103, 100, 100});
  assignRoles(iterations);
  EXPECT_EQ(iterations[6].role, IterationRole::outlier);
  for (const std::size_t i : {2, 3, 4, 5, 7, 8, 9, 10})
    EXPECT_EQ(iterations[i].role, IterationRole::steady) << i;
}

TEST(Roles, OutliersThatTakeMuchOfTheTimeStayInTheSums) {
  std::vector<TimeNs> durations;
  for (int i = 0; i < 120; ++i) durations.push_back(i % 4 == 3 ? 3000 : 100);
  auto iterations = withDurations(durations);
  assignRoles(iterations);
  EXPECT_EQ(iterations[3].role, IterationRole::steady);
  EXPECT_TRUE(iterations[3].is_outlier);
  EXPECT_FALSE(iterations[4].is_outlier);
  EXPECT_EQ(outlierPeriod(iterations), 4);
}

TEST(Roles, ASingleOneStaysOnlyWhereItTakesMostOfTheTime) {
  std::vector<TimeNs> durations(20, 100);
  durations[9] = 1500;
  auto iterations = withDurations(durations);
  assignRoles(iterations);
  EXPECT_EQ(iterations[9].role, IterationRole::outlier) << "less than half";
  durations[9] = 5000;
  iterations = withDurations(durations);
  assignRoles(iterations);
  EXPECT_EQ(iterations[9].role, IterationRole::steady);
  EXPECT_TRUE(iterations[9].is_outlier);
  EXPECT_EQ(outlierPeriod(iterations), 0) << "one has no period";
}

TEST(Roles, OutliersAtRandomHaveNoPeriod) {
  std::vector<TimeNs> durations(60, 100);
  for (const std::size_t i : {5, 9, 20, 41, 43}) durations[i] = 2000;
  auto iterations = withDurations(durations);
  assignRoles(iterations);
  EXPECT_EQ(outlierPeriod(iterations), 0);
}

TEST(Roles, ModerateJitterIsNoOutlierHoweverSmallTheDeviation) {
  auto iterations = withDurations({100, 100, 100, 100, 100, 100, 100, 140, 100, 100, 100});
  assignRoles(iterations);
  EXPECT_EQ(iterations[7].role, IterationRole::steady);
}

TEST(Iterations, MarksBoundThem) {
  const auto operators = withSequence(repeated({1, 2}, 10));
  std::vector<IterationMark> marks;
  for (int i = 0; i < 8; ++i) marks.push_back({i, i * 250, 16});
  const auto iterations = found(operators, marks);
  EXPECT_EQ(iterations.source, "marks");
  ASSERT_EQ(iterations.all.size(), 8U);
  EXPECT_EQ(iterations.all[3].start_ns, 750);
  EXPECT_EQ(iterations.all[3].end_ns, 1000);
  EXPECT_EQ(iterations.all[3].items, 16);
  EXPECT_EQ(iterations.all[7].end_ns, 2000);  // the end of the trace
  EXPECT_EQ(iterations.all[7].role, IterationRole::last);
}

TEST(Iterations, MarksThatRunAheadOfTheWorkAreSetAside) {
  const auto operators = withSequence(repeated({1, 2, 3}, 10));
  std::vector<IterationMark> marks;
  for (int i = 0; i < 10; ++i) marks.push_back({i, i * 10, 16});  // all before the second operator
  const auto iterations = found(operators, marks);
  EXPECT_EQ(iterations.source, "repeating sequence");
  EXPECT_FALSE(iterations.note.empty());
  ASSERT_EQ(iterations.all.size(), 10U);
  EXPECT_EQ(iterations.all[4].end_ns - iterations.all[4].start_ns, 300);
  EXPECT_EQ(iterations.all[4].items, 16);
}

TEST(Iterations, WithoutMarksOrRepetitionTheTraceIsOne) {
  const auto iterations = found(withSequence({1, 2, 3, 4, 5}), {});
  EXPECT_EQ(iterations.source, "whole trace");
  ASSERT_EQ(iterations.all.size(), 1U);
  EXPECT_EQ(iterations.all[0].end_ns, 500);
}

TEST(Iterations, AnEmptyTraceHasNone) { EXPECT_TRUE(found({}, {}).all.empty()); }

TEST(Sequence, FindsThePeriodAfterAPrologue) {
  const auto starts = startsOf(withSequence(repeated({1, 2, 3, 4}, 8, {9, 8, 9})));
  ASSERT_EQ(starts.size(), 8U);
  EXPECT_EQ(starts[0], 300);
  for (std::size_t i = 1; i < starts.size(); ++i) EXPECT_EQ(starts[i] - starts[i - 1], 400);
}

TEST(Sequence, EqualLayersInsideAnIterationDoNotShortenIt) {
  std::vector<std::uint32_t> once(30, 1);
  once.push_back(2);
  const auto starts = startsOf(withSequence(repeated(once, 6)));
  ASSERT_EQ(starts.size(), 6U);
  EXPECT_EQ(starts[1] - starts[0], 3100);
}

TEST(Sequence, AnEvaluationNowAndThenDoesNotConfuse) {
  std::vector<std::uint32_t> sequence;
  for (int i = 0; i < 20; ++i) {
    sequence = repeated({1, 2, 3, 4, 5}, 1, sequence);
    if (i % 10 == 9) sequence = repeated({6, 7}, 1, sequence);
  }
  const auto starts = startsOf(withSequence(sequence));
  EXPECT_EQ(starts.size(), 20U);
}

TEST(Sequence, RandomOperatorsDoNotRepeat) {
  std::vector<std::uint32_t> sequence;
  std::uint32_t state = 1;
  for (int i = 0; i < 500; ++i) sequence.push_back((state = state * 1664525U + 1013904223U) % 7 + 1);
  EXPECT_TRUE(startsOf(withSequence(sequence)).empty());
}

TEST(Sequence, IsThatOfThePushesHoweverManyAreReadAtATime) {
  // Two threads take turns: their operators run in another order than they were pushed in.
  std::mt19937 random(1);
  std::vector<OperatorInterval> operators;
  for (std::uint32_t i = 0; i < 200; ++i) {
    const auto pushed = static_cast<TimeNs>(100 * i);
    operators.push_back({pushed + static_cast<TimeNs>(random() % 900), 0, pushed, 0, OperatorId{i % 5 + 1}});
  }
  std::stable_sort(operators.begin(), operators.end(),
                   [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  const auto starts = findRepetition(inChunksOf(operators, 1000)).value().starts;
  EXPECT_GE(starts.size(), 30U);
  for (const std::size_t at_once : {1, 3, 50})
    EXPECT_EQ(findRepetition(inChunksOf(operators, at_once)).value().starts, starts) << at_once;
}

// Times are whole: 2^17 repetitions of 100 or 300 ns each.
TEST(Sequence, TooManyRepetitionsAreGrouped) {
  constexpr int kTimes = 1 << 17;
  for (const auto& once : {std::vector<std::uint32_t>{4}, std::vector<std::uint32_t>{7, 8, 9}}) {
    const auto operators = withSequence(repeated(once, kTimes));
    const auto sequence = findRepetition(inChunksOf(operators, 5000)).value();
    EXPECT_EQ(sequence.period, static_cast<std::int64_t>(once.size()));
    EXPECT_GE(sequence.starts.size(), kMostRepetitions);
    EXPECT_LT(sequence.starts.size(), 2 * kMostRepetitions);
    EXPECT_EQ(sequence.starts.size() * static_cast<std::size_t>(sequence.repetitions),
              static_cast<std::size_t>(kTimes));
    const auto apart = static_cast<TimeNs>(100 * once.size()) * sequence.repetitions;
    for (std::size_t i = 0; i < sequence.starts.size(); ++i)
      ASSERT_EQ(sequence.starts[i], static_cast<TimeNs>(i) * apart);
  }
}

TEST(Sequence, IterationsOfSeveralRepetitionsSayHowMany) {
  const auto operators = withSequence(repeated({7, 8, 9}, 1 << 15));
  const std::vector<IterationMark> marks{{0, 0, 16}, {1, 1, 16}, {2, 2, 16}, {3, 3, 16}};  // far ahead
  const auto iterations = found(operators, marks);
  EXPECT_EQ(iterations.repetitions, 2);
  ASSERT_EQ(iterations.all.size(), std::size_t{1} << 14);
  for (const auto& iteration : iterations.all) {
    ASSERT_EQ(iteration.end_ns - iteration.start_ns, 600);
    ASSERT_EQ(iteration.items, 32);
  }
  EXPECT_NE(iterations.note.find("of 3 operators"), std::string::npos) << iterations.note;
  EXPECT_NE(iterations.note.find("2 repetitions together"), std::string::npos) << iterations.note;
}

TEST(Sequence, TheTailOfACallMadeAgainAndAgainIsNoOutlier) {
  const auto longOnes = [](const std::vector<std::uint32_t>& once) {
    auto operators = withSequence(repeated(once, 100));
    TimeNs late = 0;
    for (std::size_t i = 0; i < operators.size(); ++i) {
      operators[i].start_ns += late, operators[i].pushed_ns += late;
      if (i % (10 * once.size()) == 0) late += 5000;  // one in ten takes many times as long
      operators[i].end_ns = operators[i].start_ns + 50 + (i % (10 * once.size()) == 0 ? 5000 : 0);
    }
    const auto iterations = found(operators, {});
    return std::count_if(iterations.all.begin(), iterations.all.end(),
                         [](const Iteration& i) { return i.is_outlier; });
  };
  EXPECT_EQ(longOnes({1}), 0);
  EXPECT_EQ(longOnes({1, 2}), 0);
  EXPECT_EQ(longOnes({1, 2, 3}), 9);  // the first is warm-up
}

// An operator whose repetitions have more distances than are kept.
TEST(Sequence, ManyDistancesDoNotHideThePeriod) {
  std::vector<std::uint32_t> once;
  for (std::uint32_t gap = 1; gap <= 60; ++gap) {
    once.push_back(1);
    for (std::uint32_t i = 0; i < gap; ++i) once.push_back(2 + (gap + i) % 5);
  }
  once.push_back(100);
  const auto sequence = findRepetition(inChunksOf(withSequence(repeated(once, 8)), 999)).value();
  EXPECT_EQ(sequence.period, static_cast<std::int64_t>(once.size()));
  EXPECT_EQ(sequence.starts.size(), 8U);
}

TEST(Sequence, TwoRepetitionsAreNotEnough) {
  EXPECT_TRUE(startsOf(withSequence(repeated({1, 2, 3}, 2))).empty());
}

// Ten steps of 1 ms: operators that repeat twice in each, and ranges.
std::string stepsFoundIn(const std::function<std::string(int step)>& ranges) {
  const test::TempFolder folder;
  std::string text;
  for (int step = 0; step < 10; ++step) {
    for (const int half : {0, 500})
      text +=
          fmt::format("op a Dense none {0}us 100us\nop b Relu none {1}us 100us\nop c Sum none {2}us 100us\n",
                      1000 * step + half + 10, 1000 * step + half + 150, 1000 * step + half + 300);
    text += ranges(step);
  }
  EXPECT_TRUE(test::makeTraceFile(text, folder / "t.pitwall").has_value()) << text;
  auto trace = Trace::open(folder / "t.pitwall");
  EXPECT_TRUE(trace.has_value());
  const auto report = analyzeTrace(**trace, {.rule_folders = {PITWALL_RULE_FOLDER}});
  EXPECT_TRUE(report.has_value());
  const auto rows = (*trace)->query(
      "SELECT format('%s: %d of %d us', iteration_source, iterations, iteration_median_ns / 1000) FROM "
      "analysis_summary");
  return rows.has_value() ? std::get<std::string>(rows->rows[0][0]) : rows.error().message;
}

TEST(Steps, AreTheRangesThatTheProgramNamesOnceAStep) {
  const std::string kFound = "step ranges: 10 of 1000 us";
  EXPECT_EQ(stepsFoundIn([](int) { return ""; }), "repeating sequence: 20 of 500 us");
  for (const char* name : {"iteration", "train_step", "step", "Optimizer.step#SGD.step"}) {
    EXPECT_EQ(stepsFoundIn([&](int i) { return fmt::format("range {} {}us 400us\n", name, 1000 * i); }),
              kFound)
        << name;
  }
  for (const char* name :
       {"iteration~", "Iteration~#", "step~", "iter_", "batch:", "Step="}) {  // with numbers
    EXPECT_EQ(stepsFoundIn([&](int i) { return fmt::format("range {}{} {}us 400us\n", name, i, 1000 * i); }),
              kFound)
        << name;
  }
  for (const char* name : {"layer", "footstep~", "batch_norm~"}) {
    EXPECT_EQ(stepsFoundIn([&](int i) { return fmt::format("range {}{} {}us 400us\n", name, i, 1000 * i); }),
              "repeating sequence: 20 of 500 us")
        << name;
  }
}

// An optimizer for each of two networks, and a thread beside that counts its own.
TEST(Steps, OfTheProgramComeBeforeThoseOfItsOptimizers) {
  EXPECT_EQ(stepsFoundIn([](int i) {
              return fmt::format(
                  "range iteration~{0} {1}us 900us\nrange Optimizer.step#Adam.step {2}us 9us\n"
                  "range Optimizer.step#Adam.step {3}us 9us\nrange batch~{0} {1}us 20us on=loader\n",
                  i, 1000 * i, 1000 * i + 400, 1000 * i + 800);
            }),
            "step ranges: 10 of 1000 us");
}

// A worker that makes batches runs more operators than the process that trains with them. The recorder's time is that of
// the whole recording.
TEST(IterationsOfAJob, AreOfTheProcessThatNamesSteps) {
  constexpr TimeNs kMs = 1'000'000;
  const test::TempFolder folder;
  auto sink = createTrace(folder / "job.pitwall").value();
  const auto tracks = [&](std::int64_t pid) {
    const ProcessId process = sink->process({pid, "python3", "", 0});
    return sink->track({TrackKind::thread, process, sink->thread({process, pid, "main"}), {}, "", ""});
  };
  const TrackId trainer = tracks(1), worker = tracks(2);
  OperatorFacts facts;
  facts.name = "aten::roll";
  const OperatorId op = sink->operatorFacts(facts);
  std::vector<Event> trained, made;
  const auto add = [&](std::vector<Event>& events, EventKind kind, TimeNs start, const char* name) {
    Event event{.start_ns = start, .dur_ns = kMs / 10, .name = sink->string(name), .kind = kind};
    event.pushed_ns = event.ready_ns = start;
    if (kind == EventKind::operatorRun) event.op = op;
    events.push_back(event);
  };
  for (int step = 0; step < 8; ++step) {
    const TimeNs start = step * 10 * kMs;
    add(trained, EventKind::operatorRun, start, "aten::roll");
    add(trained, EventKind::scope, start + kMs, "Optimizer.step#SGD.step");
    for (int i = 0; i < 20; ++i) add(made, EventKind::operatorRun, start + i * kMs / 4, "aten::roll");
  }
  sink->events(trainer, trained);
  sink->events(worker, made);
  sink->meta(meta::kRecorderSelfNs, std::to_string(20 * kMs));
  sink->meta(meta::kTraceEndNs, std::to_string(1000 * kMs));
  ASSERT_TRUE(sink->finish().has_value());
  sink.reset();
  auto trace = Trace::open(folder / "job.pitwall").value();
  const auto report = analyzeTrace(*trace);
  ASSERT_TRUE(report.has_value());
  const auto row = trace->query("SELECT iteration_source, iterations, recorder_share FROM analysis_summary");
  ASSERT_TRUE(row.has_value());
  EXPECT_EQ(textOf(row->rows.at(0).at(0)), "step ranges");
  EXPECT_GE(integerOf(row->rows.at(0).at(1)), 7);
  EXPECT_DOUBLE_EQ(realOf(row->rows.at(0).at(2)), 0.02);
}

}  // namespace
}  // namespace pitwall::analysis::iterations_test
