// Traces with simulated times: what they show is what was predicted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/analysis.h"
#include "db/meta.h"
#include "tests/analyzer/simulated.h"

namespace pitwall::test::simulated_times_test {
namespace {

using testing::HasSubstr;

// With a scope of the program's own code in each iteration.
constexpr char kScopes[] =
    "repeat 8 100us\n"
    "range logging 80us 10us\n"
    "end\n";

struct Timed {
  std::string name;
  TimeNs start_ns = 0, dur_ns = 0, pushed_ns = 0, ready_ns = 0;

  TimeNs endNs() const { return start_ns + dur_ns; }
  friend bool operator==(const Timed&, const Timed&) = default;
};

std::vector<Timed> eventsOf(Trace& trace, const std::string& where = "1") {
  std::vector<Timed> events;
  const auto rows =
      trace.query("SELECT coalesce(name, kind), start_ns, dur_ns, pushed_ns, ready_ns FROM event WHERE " +
                  where + " ORDER BY start_ns, dur_ns, 1");
  EXPECT_TRUE(rows.has_value()) << rows.error().message;
  for (const auto& row : rows->rows) {
    const auto number = [&](std::size_t column) { return std::get<std::int64_t>(row[column]); };
    events.push_back({std::get<std::string>(row[0]), number(1), number(2), number(3), number(4)});
  }
  return events;
}

// Of iterations, between the marks.
std::vector<TimeNs> iterationsOf(const Trace& trace) {
  std::vector<TimeNs> durations;
  const auto marks = trace.iterations();
  for (std::size_t i = 1; i < marks.size(); ++i) durations.push_back(marks[i].time_ns - marks[i - 1].time_ns);
  return durations;
}

TEST(SimulatedTimes, WithoutChangesAllTimesAreTheRecordedOnes) {
  for (const std::string& text : {std::string(kLoop) + kScopes, std::string(kEngine)}) {
    const Simulated s(text);
    const auto same = s.timelineAfter({});
    EXPECT_EQ(same->meta(meta::kSimulatedChanges), "none");
    const auto range = same->meta(meta::kExportRange).value();
    const auto begin = range.substr(0, range.find('.')), end = range.substr(range.rfind('.') + 1);
    const auto events = eventsOf(*same);
    EXPECT_GE(events.size(), 15U);
    EXPECT_EQ(events, eventsOf(s.trace(), "start_ns < " + end + " AND end_ns > " + begin));
  }
}

TEST(SimulatedTimes, WithoutItsWaitEverythingOfTheThreadAndTheDeviceMovesForward) {
  const Simulated s(std::string(kLoop) + kScopes);
  const auto after = s.timelineAfter({"data_wait=0"});
  EXPECT_EQ(after->meta(meta::kSimulatedChanges), "data_wait=0");
  EXPECT_EQ(iterationsOf(*after), std::vector<TimeNs>(iterationsOf(*after).size(), 60'000));
  const auto waits = eventsOf(*after, "kind = 'data_wait'");
  const auto kernels = eventsOf(*after, "kind = 'kernel'"), scopes = eventsOf(*after, "name = 'logging'");
  ASSERT_GE(kernels.size(), 5U);
  ASSERT_EQ(kernels.size(), scopes.size());
  for (const auto& wait : waits) EXPECT_EQ(wait.dur_ns, 0);
  const TimeNs first = after->iterations().front().time_ns;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const TimeNs begin = first + static_cast<TimeNs>(i) * 60'000;
    EXPECT_EQ(kernels[i].start_ns - begin, 5'000);
    EXPECT_EQ(kernels[i].dur_ns, 20'000);
    EXPECT_EQ(scopes[i].start_ns - begin, 40'000) << "own code, which no graph has as a node of work";
    EXPECT_EQ(scopes[i].dur_ns, 10'000);
  }
}

TEST(SimulatedTimes, OperatorsOfTheEngineStartAfterWhatTheyWaitFor) {
  const Simulated s(kEngine);
  const auto after = s.timelineAfter({"op:Convolution=0.5"});
  const auto first = eventsOf(*after, "name = 'Convolution'"),
             second = eventsOf(*after, "name = 'Activation'");
  ASSERT_GE(first.size(), 5U);
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].dur_ns, 15'000);
    EXPECT_EQ(first[i].start_ns - first[i].pushed_ns, 8'000);
    EXPECT_EQ(second[i].start_ns, first[i].endNs());
    EXPECT_EQ(second[i].dur_ns, 20'000);
    EXPECT_GE(second[i].ready_ns, second[i].pushed_ns);
    EXPECT_LE(second[i].ready_ns, second[i].start_ns);
  }
  EXPECT_EQ(iterationsOf(*after), std::vector<TimeNs>(iterationsOf(*after).size(), 85'000));
}

TEST(SimulatedTimes, ASimulatedTraceTakesThePredictedTime) {
  for (const auto& [text, change] :
       std::vector<std::pair<const char*, const char*>>{{kLoop, "op:gemm=0.5"},
                                                        {kLoop, "op:gemm=3"},
                                                        {kLoop, "data_wait=0.25"},
                                                        {kEngine, "op:Activation=0"},
                                                        {kEngine, "op:Convolution=2"},
                                                        {kEngine, "engine_workers=2"}}) {
    const Simulated s(text);
    const auto predicted = s.after({change});
    const auto trace = s.timelineAfter({change});
    const auto again = Simulator::open(*trace, {.between_runs = 0});
    ASSERT_TRUE(again.has_value());
    EXPECT_TRUE(again->check().predictable) << change << ": " << again->check().why;
    EXPECT_EQ(again->check().recorded_ns, predicted.middle_ns - predicted.added_ns) << change;
  }
}

TEST(SimulatedTimes, WhatTheTimelineDoesNotShowIsCounted) {
  // Two batches of 40 are made while the training of 60 uses one: nothing is left to wait for.
  const Simulated s(kLoop);
  EXPECT_EQ(s.after({"data_wait=0"}).added_ns, 0);
  const auto queue = s.after({"workers=1"});
  const auto shown = iterationsOf(*s.timelineAfter({"workers=1"}));
  EXPECT_NEAR(static_cast<double>(shown[shown.size() / 2] + queue.added_ns),
              static_cast<double>(queue.middle_ns), 1000);
}

TEST(SimulatedTimes, EventsStayWithinThoseThatEnclosedThem) {
  const Simulated s(kLoop);
  for (const char* change :
       {"data_wait=0", "data_wait=0.5", "op:step=4", "op:cuda=0", "launch=0", "workers=2"}) {
    const auto trace = s.timelineAfter({change});
    const auto waits = eventsOf(*trace, "kind = 'data_wait'"), works = eventsOf(*trace, "kind = 'data_work'");
    ASSERT_EQ(waits.size(), works.size()) << change;
    for (std::size_t i = 0; i < waits.size(); ++i) {
      EXPECT_LE(waits[i].start_ns, works[i].start_ns) << change;
      EXPECT_GE(waits[i].endNs(), works[i].endNs()) << change;
    }
    TimeNs last = 0;
    for (const auto& event : eventsOf(*trace, "track LIKE '%main%' AND kind <> 'data_work'")) {
      EXPECT_GE(event.start_ns, last)
          << change << ": " << event.name << " on a thread that runs one at a time";
      last = event.endNs();
    }
  }
}

// A second process trains beside it; a thread of the first one that no operator waits for makes records.
TEST(SimulatedTimes, RowsThatAreNotSimulatedKeepTheirPlaceAndOtherProcessesAreLeftOut) {
  const Simulated s(
      "repeat 8 100us\n"
      "iteration 0 32\n"
      "op conv Convolution forward 10us 30us pushed=2us\n"
      "op relu Activation forward 40us 20us pushed=4us\n"
      "span wait 6us 56us\n"
      "span scope 50us 10us on=writer name=record\n"
      "op other Convolution forward 10us 30us pushed=2us rank=1\n"
      "end\n");
  const auto after = s.timelineAfter({"op:Convolution=0"});
  const auto records = eventsOf(*after, "name = 'record'");
  ASSERT_GE(records.size(), 5U);
  const auto marks = after->iterations();
  for (std::size_t i = 0; i + 1 < marks.size(); ++i) {
    EXPECT_EQ(marks[i + 1].time_ns - marks[i].time_ns, s.after({"op:Convolution=0"}).middle_ns);
    EXPECT_GE(records[i].start_ns, marks[i].time_ns);
    EXPECT_LE(records[i].endNs(), marks[i + 1].time_ns);
  }
  EXPECT_TRUE(eventsOf(*after, "layer = 'other'").empty());
}

TEST(SimulatedTimes, TheReportSaysThatTimesAreNotRecorded) {
  const Simulated s(kLoop);
  auto trace = s.timelineAfter({"op:gemm=0.5", "data_wait=0"});
  const auto report = analyzeTrace(*trace, {});
  ASSERT_TRUE(report.has_value());
  EXPECT_THAT(report->notes,
              testing::Contains(HasSubstr("simulated, not recorded; changes to the recorded program: "
                                          "op:gemm=0.5 data_wait=0")));
}

TEST(SimulatedTimes, WhatCannotBePredictedIsNotWritten) {
  const TempFolder folder;
  const Simulated s(kLoop);
  auto simulator = Simulator::open(s.trace());
  ASSERT_TRUE(simulator.has_value());
  const auto write = [&](const Simulator& with, Trace& trace, std::vector<std::string> changes) {
    const auto written = with.write(trace, changes, folder / "x.pitwall");
    EXPECT_FALSE(written.has_value());
    EXPECT_FALSE(std::filesystem::exists(folder / "x.pitwall"));
    return written.has_value() ? "" : written.error().message;
  };
  EXPECT_THAT(write(*simulator, s.trace(), {"speed=2"}), HasSubstr("not a change that can be simulated"));
  const Simulated kernels("repeat 8 100us\niteration 0 32\nwork kernel a 0 90us\nend\n");
  auto none = Simulator::open(kernels.trace());
  ASSERT_TRUE(none.has_value());
  EXPECT_THAT(write(*none, kernels.trace(), {"op:a=0.5"}), HasSubstr("not predictable"));
}

}  // namespace
}  // namespace pitwall::test::simulated_times_test
