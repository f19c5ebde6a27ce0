// Sampled call stacks of other tools: perf script, speedscope, collapsed stacks. Regular expressions and SQLite's JSON
// functions read the fixtures independently.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "db/import/perf/perf_line.h"
#include "tests/db/import/independent.h"
#include "tests/db/import/sampled.h"

namespace pitwall::test::sampled_stacks_test {
namespace {

using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

TEST(PerfLine, HeadsOfAllKinds) {
  const auto full =
      import::perfHead("   data loader 0  4711/4719  [012]  7214.032587123:    250000 cpu-clock:uppp: ");
  ASSERT_TRUE(full);
  EXPECT_EQ(full->command, "data loader 0");
  EXPECT_EQ(full->pid, 4711);
  EXPECT_EQ(full->tid, 4719);
  EXPECT_EQ(full->cpu, "012");
  EXPECT_EQ(full->time_ns, 7214032587123);
  EXPECT_EQ(full->period, 250000);
  EXPECT_EQ(full->event, "cpu-clock:uppp");
  const auto least = import::perfHead("a 12 1.5: cycles:");
  ASSERT_TRUE(least);
  EXPECT_EQ(least->pid, -1);
  EXPECT_EQ(least->tid, 12);
  EXPECT_EQ(least->period, 0);
  const auto flags =
      import::perfHead("a 1/2 [003] d..1. 1.000001: sched:sched_switch: prev_comm=x 9 2.0: y:");
  ASSERT_TRUE(flags);
  EXPECT_EQ(flags->time_ns, 1'000'001'000);
  EXPECT_EQ(flags->rest, "prev_comm=x 9 2.0: y:");
  EXPECT_EQ(import::perfHead("a b 7 8 1.0: 5 cycles:u: 7f f (x)")->command, "a b 7");
  for (const char* line : {"", "a", "a 12 1.5:", "a 12 15: cycles:", "a x/y 1.5: cycles:", "12 1.5: cycles:",
                           "a 12 1.5: no colon", "a 99999999999999999999 1.5: cycles:"})
    EXPECT_FALSE(import::perfHead(line)) << line;
}

TEST(PerfLine, FunctionsWithBlanksAndBrackets) {
  const auto function = import::perfFunction("\t  7f52 std::sort<int*>(int*, int*)+0x1f (/a b/lib.so)\r");
  ASSERT_TRUE(function);
  EXPECT_EQ(function->symbol, "std::sort<int*>(int*, int*)");
  EXPECT_EQ(function->object, "/a b/lib.so");
  const auto python = import::perfFrame(*import::perfFunction(" 1 py::C.f:/x/t.py+0xb (/tmp/perf-1.map)"));
  EXPECT_EQ(python, (FrameInfo{"C.f", "/x/t.py", 0, "python"}));
  EXPECT_EQ(import::perfFrame(*import::perfFunction(" 1 [unknown] (/x/libq.so)")),
            (FrameInfo{"[libq.so]", "/x/libq.so", 0, "native"}));
  EXPECT_FALSE(import::perfFunction("  train.c:12"));
  EXPECT_TRUE(import::standsForTime("cpu-clock:uppp"));
  EXPECT_TRUE(import::standsForTime("cycles:P"));
  EXPECT_FALSE(import::standsForTime("page-faults:u"));
  EXPECT_FALSE(import::standsForTime("power:clock_enable"));
}

TEST(ImportPerfScript, CountsAndSumsAgreeWithAnotherReader) {
  const std::string text = readAll(seedFile("perf_script/threads.txt"));
  const auto imported = importText(text);
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->summary.inputs[0].format, "perf script");
  std::map<std::string, std::int64_t> samples, periods;
  const std::regex head(R"(\n *(\S.*\S) +(\d+)/(\d+) +\[\d+\] +[\d.]+: +(\d+) cpu-clock:uppp: \n\t)");
  for (std::sregex_iterator at(text.begin(), text.end(), head), end; at != end; ++at) {
    if ((*at)[3] == "0") continue;
    ++samples[(*at)[1]];
    periods[(*at)[1]] += std::stoll((*at)[4]);
  }
  ASSERT_EQ(samples.size(), 2U);
  const auto threads = sampledThreads(*imported);
  for (const auto& [name, count] : samples) {
    ASSERT_EQ(threads.count(name), 1U) << name;
    EXPECT_EQ(threads.at(name).samples, count) << name;
    EXPECT_EQ(threads.at(name).known_ns, periods[name]) << name;
  }
  EXPECT_EQ(threads.at("python3").times.at("__libc_start_call_main;<module>;Trainer.step;std::vector<float, "
                                           "std::allocator<float> >::resize(unsigned long)"),
            20'000'000);
  EXPECT_EQ(threads.at("other").samples, 0) << "a sample without a stack";
  EXPECT_EQ(Imported::counted(imported->summary.not_understood, "samples of CPUs that had nothing"), 1);
  EXPECT_EQ(Imported::counted(imported->summary.not_understood, "samples of events that stand for no time"),
            1);
  ASSERT_EQ(imported->sink.processes.size(), 2U);
  EXPECT_EQ(imported->sink.processes[0].pid, 4711);
  EXPECT_EQ(imported->sink.processes[0].name, "python3");
}

// Where the period counts cycles, a sample stands for the interval of the sampling.
TEST(ImportPerfScript, SamplesOfCyclesAndWithoutStacks) {
  const auto imported = importFiles({seedFile("perf_script/cycles.txt")});
  ASSERT_EQ(imported->error, "");
  const auto threads = sampledThreads(*imported);
  ASSERT_EQ(threads.size(), 1U) << "one name";
  EXPECT_EQ(threads.at("bench").samples, 6);
  EXPECT_THAT(threads.at("bench").times,
              UnorderedElementsAre(Pair("gemm", 5'000'000), Pair("pack(float const*, int)", 4'000'000),
                                   Pair("bias", 2'000'000)));
  EXPECT_THAT(imported->summary.notes, testing::Contains(HasSubstr("each sample stands for")));
  EXPECT_THAT(imported->summary.notes, testing::Contains(HasSubstr("-F +pid")));
}

TEST(ImportPerfScript, TimesThatGoBackAndJunkAreCounted) {
  const auto imported = importText(
      "a 1/1 [0] 10.0: 1000 cpu-clock: \n\t1 f (x)\n\n"
      "a 1/1 [0] 9.0: 1000 cpu-clock: \n\t1 f (x)\n\n"
      "what is this\n"
      "a 1/1 [0] 4600000000.0: 1000 cpu-clock: \n\t1 f (x)\n\tinlined here.c:12\n\n");
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(sampledThreads(*imported).at("a").samples, 2);
  EXPECT_EQ(Imported::counted(imported->summary.dropped, "samples that end before"), 1);
  EXPECT_EQ(Imported::counted(imported->summary.not_understood, "lines that are no sample"), 1);
  EXPECT_EQ(Imported::counted(imported->summary.not_understood, "lines that are no function"), 1);
}

std::string profile() { return readAll(seedFile("speedscope/pyspy.json")); }

TEST(ImportSpeedscope, SampledProfilesAreStacks) {
  const auto imported = importText(profile());
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->summary.inputs[0].format, "speedscope profile");
  EXPECT_EQ(imported->summary.inputs[0].version, "py-spy@0.4.3");
  EXPECT_TRUE(imported->summary.complete());
  const auto threads = sampledThreads(*imported);
  const auto sum = [&](int thread, const char* where) {
    return numberBySql("SELECT sum(round(w.value*1e9)) FROM json_each(?1,'$.profiles[" +
                           std::to_string(thread) + "].weights') w JOIN json_each(?1,'$.profiles[" +
                           std::to_string(thread) + "].samples') s ON w.key=s.key WHERE " + where,
                       profile());
  };
  EXPECT_EQ(threads.at("MainThread").known_ns, sum(0, "1"));
  EXPECT_EQ(threads.at("MainThread").times.at("<module>;step;conv2d"), sum(0, "s.value='[0,1,2]'"));
  EXPECT_EQ(threads.at("MainThread").times.at("<module>;step"), sum(0, "s.value='[0,1]'"));
  EXPECT_EQ(threads.at("loader \xC3\xA9").known_ns, sum(1, "s.value<>'[]'")) << "an empty stack is unknown";
  EXPECT_EQ(imported->sink.threads.at(0).tid, 5674);
  EXPECT_EQ(imported->sink.processes.at(0).pid, 77);
  const FrameInfo step{"step", "train.py", 12, "python"};
  EXPECT_THAT(imported->sink.frames, testing::Contains(step));
  EXPECT_EQ(Imported::counted(imported->summary.not_understood, "profiles of other kinds"), 1) << "bytes";
}

TEST(ImportSpeedscope, ProfilesOfEventsAreRanges) {
  const auto imported = importText(profile());
  EXPECT_EQ(
      imported->events("scope"),
      numberBySql(
          "SELECT count(*) FROM json_each(?1,'$.profiles[2].events') WHERE json_extract(value,'$.type')='O'",
          profile()));
  std::int64_t total = 0;
  for (const Event& event : imported->sink.eventsOf(EventKind::scope)) total += event.dur_ns;
  EXPECT_EQ(
      total,
      numberBySql("SELECT sum(json_extract(value,'$.at')*1000000*iif(json_extract(value,'$.type')='C',1,-1)) "
                  "FROM json_each(?1,'$.profiles[2].events')",
                  profile()));
  EXPECT_EQ(imported->only("step").depth, 1);
  EXPECT_EQ(imported->only("<module>").dur_ns, 38'000'000);
}

std::string speedscope(const std::string& profiles) {
  return R"({"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[{"name":"a"},{"name":"b"}]},)"
         R"("profiles":[)" +
         profiles + "]}";
}

TEST(ImportSpeedscope, WhatContradictsItselfIsCounted) {
  const auto imported = importText(speedscope(
      R"({"type":"evented","name":"t","unit":"seconds","startValue":0,"endValue":9,"events":[
{"type":"O","frame":0,"at":1},{"type":"O","frame":1,"at":2},{"type":"C","frame":0,"at":3},{"type":"C","frame":1,"at":4},
{"type":"O","frame":7,"at":5},{"type":"O","frame":1,"at":"x"},{"type":"O","frame":1,"at":6}]},
{"type":"sampled","name":"s","unit":"seconds","startValue":0,"endValue":9,"samples":[[0],[9],[1]],"weights":[1,-1]})"));
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->events("scope"), 3);
  EXPECT_EQ(Imported::counted(imported->summary.repaired, "ranges without an end"), 2);
  EXPECT_EQ(Imported::counted(imported->summary.dropped, "ends without a begin"), 1);
  EXPECT_EQ(Imported::counted(imported->summary.dropped, "events without a type"), 2);
  EXPECT_EQ(Imported::counted(imported->summary.dropped, "functions of samples"), 1);
  EXPECT_EQ(Imported::counted(imported->summary.dropped, "samples without a weight"), 2);
  EXPECT_EQ(sampledThreads(*imported).at("s").known_ns, 1'000'000'000);
}

TEST(ImportSpeedscope, CountsWithoutTimesSaySo) {
  const auto imported = importText(speedscope(
      R"({"type":"sampled","name":"s","unit":"none","startValue":0,"endValue":3,"samples":[[0],[0,1]],"weights":[1,2]})"));
  EXPECT_EQ(imported->sink.meta_values.at("import.timeline"), "sums only");
  EXPECT_EQ(sampledThreads(*imported).at("s").times.at("a;b"), 2'000'000);
}

TEST(ImportSpeedscope, ACutFileSaysWhere) {
  const std::string whole = profile();
  for (std::size_t length = whole.find("$schema") + 80; length + 1 < whole.size(); length += 37) {
    const auto imported = importText(whole.substr(0, length));
    EXPECT_TRUE(!imported->error.empty() || !imported->summary.complete()) << length;
  }
}

TEST(ImportCollapsed, CountsBecomeShares) {
  const std::string text = readAll(seedFile("collapsed/pyspy.txt"));
  const auto imported = importText(text);
  ASSERT_EQ(imported->error, "");
  std::int64_t total = 0;
  const std::regex count(" ([0-9]+)\n");
  for (std::sregex_iterator at(text.begin(), text.end(), count), end; at != end; ++at)
    total += std::stoll((*at)[1]);
  const auto threads = sampledThreads(*imported);
  EXPECT_EQ(threads.at("all threads").known_ns, total * 1'000'000);
  EXPECT_EQ(threads.at("all threads").times.at("<module>;step"), 9'000'000);
  EXPECT_THAT(imported->sink.frames, testing::Contains(FrameInfo{"step", "train.py", 12, "python"}));
  EXPECT_THAT(imported->sink.frames, testing::Contains(FrameInfo{"operator()(int, char)", "", 0, "native"}));
  EXPECT_EQ(imported->sink.meta_values.at("import.timeline"), "sums only");
  EXPECT_NE(importText("a;b 3\nwhat 4\nno count\n")->error, "");
  EXPECT_NE(importText("hello 5\n")->error, "") << "no line has a caller";
}

}  // namespace
}  // namespace pitwall::test::sampled_stacks_test
