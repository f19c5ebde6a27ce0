// Chrome Trace Event JSON: containers, phases, pairing, damage.
#include <gtest/gtest.h>

#include "tests/db/import/imported.h"

namespace pitwall::test::chrome_test {
namespace {

const char kRange[] = R"({"name":"work","cat":"c","ph":"X","ts":10,"dur":5,"pid":1,"tid":2})";

TEST(ImportChrome, EveryContainerGivesTheSame) {
  const std::string range = kRange;
  for (const std::string& text : {"[" + range + "]", "[" + range + "," + range.substr(0, 0) + "\n]",
                                  "[" + range, "[\n" + range + ",\n", "{\"traceEvents\":[" + range + "]}",
                                  "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[" + range + "],\"x\":[1]}",
                                  range + "\n", range, "\xEF\xBB\xBF[" + range + "]", "," + range}) {
    SCOPED_TRACE(text);
    const auto imported = importText(text);
    ASSERT_EQ(imported->error, "");
    EXPECT_TRUE(imported->summary.complete());
    const Event event = imported->only("work");
    EXPECT_EQ(event.dur_ns, 5000);
    EXPECT_EQ(event.start_ns, 0);
    EXPECT_EQ(imported->summary.inputs.at(0).format, "Chrome Trace Event JSON");
    EXPECT_EQ(imported->sink.processes.at(0).pid, 1);
    EXPECT_EQ(imported->sink.threads.at(0).tid, 2);
  }
}

TEST(ImportChrome, EventsOnePerLine) {
  const std::string range = kRange;
  const auto imported = importText(range + "\n" + range + "\n\n" + range + "\n");
  EXPECT_EQ(imported->named("work").size(), 3U);
}

TEST(ImportChrome, TheStartOfAProcessIsTheWallClockWhenItIsADate) {
  const auto starting = [](const std::string& start_us) {
    return importText(R"([{"ph":"M","name":"process_name","pid":1,"args":{"name":"train",)"
                      R"("start_time_since_epoch_in_micros":)" +
                      start_us + "}}," + kRange + "]");
  };
  EXPECT_EQ(starting("1700000000000000")->sink.meta_values.at("trace.start_unix_ns"), "1700000000000010000");
  for (const char* no_date : {"0", "-5", "9223372036854775807", "4200000000000000"})
    EXPECT_EQ(starting(no_date)->sink.meta_values.count("trace.start_unix_ns"), 0U) << no_date;
}

// What Pitwall itself exports begins with the trace's extent, which a damaged file may have wrong.
TEST(ImportChrome, RowsBeyondTheExtentOfTheFileExtendTheTrace) {
  const std::string start =
      R"([{"ph":"M","name":"pitwall_trace","args":{"version":1,"format":1,"first_ns":0,)"
      R"("last_ns":1000,"correlations":0,"start_unix_ns":0}},)";
  EXPECT_EQ(
      importText(start + R"({"name":"work","ph":"X","ts":10,"dur":5,"pid":1,"tid":1}])")->summary.end_ns,
      15000);
  EXPECT_EQ(importText(start + R"({"name":"bytes","ph":"C","ts":20,"pid":1,"tid":1,"args":{"value":3}}])")
                ->summary.end_ns,
            20000);
  const auto backwards = importText(start + R"({"name":"work","ph":"X","ts":10,"dur":-5,"pid":1,"tid":1}])");
  EXPECT_EQ(backwards->only("work").dur_ns, 0);
  EXPECT_EQ(Imported::counted(backwards->summary.repaired, "events that end before they start"), 1);
}

TEST(ImportChrome, BeginAndEndNest) {
  const auto imported = importText(R"([
    {"name":"outer","ph":"B","ts":0,"pid":1,"tid":1}, {"name":"inner","ph":"B","ts":2,"pid":1,"tid":1},
    {"ph":"E","ts":5,"pid":1,"tid":1}, {"ph":"E","ts":9,"pid":1,"tid":1}, {"ph":"E","ts":10,"pid":1,"tid":1},
    {"name":"other","ph":"B","ts":3,"pid":1,"tid":2}, {"name":"last","ph":"X","ts":20,"dur":1,"pid":1,"tid":1}])");
  EXPECT_EQ(imported->only("outer").dur_ns, 9000);
  EXPECT_EQ(imported->only("outer").depth, 0);
  EXPECT_EQ(imported->only("inner").dur_ns, 3000);
  EXPECT_EQ(imported->only("inner").depth, 1);
  EXPECT_EQ(imported->only("other").dur_ns, 18000);  // to the end of the trace
  EXPECT_EQ(Imported::counted(imported->summary.dropped, "ends (phase E) without"), 1);
  EXPECT_EQ(Imported::counted(imported->summary.repaired, "ranges without an end"), 1);
}

TEST(ImportChrome, AsynchronousRanges) {
  const auto imported = importText(R"([
    {"name":"a","cat":"n","ph":"b","ts":0,"id":1,"pid":1}, {"name":"b","cat":"n","ph":"b","ts":1,"id":2,"pid":1},
    {"name":"step","cat":"n","ph":"n","ts":2,"id":1,"pid":1},
    {"name":"a","cat":"n","ph":"e","ts":7,"id":1,"pid":1}, {"name":"b","cat":"n","ph":"e","ts":9,"id":2,"pid":1},
    {"name":"l","ph":"b","ts":0,"id2":{"local":"0x1"},"pid":1}, {"name":"l","ph":"b","ts":1,"id2":{"local":"0x1"},"pid":2},
    {"name":"l","ph":"e","ts":4,"id2":{"local":"0x1"},"pid":2}, {"name":"l","ph":"e","ts":6,"id2":{"local":"0x1"},"pid":1},
    {"name":"old","cat":"o","ph":"S","ts":1,"id":"z","pid":1}, {"name":"old","cat":"o","ph":"F","ts":3,"id":"z","pid":1},
    {"name":"lost","cat":"o","ph":"e","ts":3,"id":"q","pid":1}, {"name":"no id","ph":"b","ts":3,"pid":1}])");
  EXPECT_EQ(imported->only("a").dur_ns, 7000);
  EXPECT_EQ(imported->only("b").dur_ns, 8000);
  EXPECT_EQ(imported->only("step").kind, EventKind::instant);
  EXPECT_EQ(imported->only("old").dur_ns, 2000);
  std::vector<std::int64_t> local;
  for (const auto& [track, event] : imported->named("l")) local.push_back(event.dur_ns);
  std::sort(local.begin(), local.end());
  EXPECT_EQ(local, (std::vector<std::int64_t>{3000, 6000}));
  EXPECT_EQ(Imported::counted(imported->summary.dropped, "ends of asynchronous"), 1);
  EXPECT_EQ(Imported::counted(imported->summary.dropped, "asynchronous events without an id"), 1);
}

TEST(ImportChrome, CountersByNameSeriesAndId) {
  const auto imported = importText(R"([
    {"name":"mem","ph":"C","ts":1,"pid":1,"args":{"live":5,"peak":"7.5"}}, {"name":"mem","ph":"C","ts":2,"pid":1,"args":{"live":6}},
    {"name":"q","ph":"C","ts":1,"id":3,"pid":1,"args":{"value":9}}, {"name":"bad","ph":"C","ts":1,"pid":1,"args":{"v":"x"}}])");
  EXPECT_EQ(imported->samples("mem live").size(), 2U);
  EXPECT_EQ(imported->samples("mem peak").at(0).value, 7.5);
  EXPECT_EQ(imported->samples("q[3]").at(0).value, 9);
  EXPECT_EQ(Imported::counted(imported->summary.dropped, "counter values"), 1);
}

TEST(ImportChrome, ArrowsJoinTheRangesThatEncloseTheirEnds) {
  const auto imported = importText(R"([
    {"name":"send","ph":"X","ts":0,"dur":10,"pid":1,"tid":1}, {"name":"nested","ph":"X","ts":2,"dur":4,"pid":1,"tid":1},
    {"name":"receive","ph":"X","ts":20,"dur":5,"pid":1,"tid":2}, {"name":"after","ph":"X","ts":30,"dur":5,"pid":1,"tid":3},
    {"name":"f","cat":"x","ph":"s","id":1,"ts":3,"pid":1,"tid":1}, {"name":"f","cat":"x","ph":"t","id":1,"ts":21,"pid":1,"tid":2},
    {"name":"f","cat":"x","ph":"f","id":1,"ts":28,"pid":1,"tid":3}, {"name":"g","cat":"x","ph":"f","bp":"e","id":2,"ts":21,"pid":1,"tid":2}])");
  ASSERT_EQ(imported->sink.all_dependencies.size(), 2U);
  const auto& edges = imported->sink.all_dependencies;
  EXPECT_EQ(edges[0].source, imported->only("nested").correlation);
  EXPECT_EQ(edges[0].target, imported->only("receive").correlation);
  EXPECT_EQ(edges[1].target, imported->only("after").correlation);  // without bp the next range
  EXPECT_EQ(edges[1].kind, DependencyKind::flow);
  EXPECT_EQ(imported->only("send").correlation, 0U);
  EXPECT_EQ(Imported::counted(imported->summary.dropped, "arrows with an end but no start"), 1);
}

TEST(ImportChrome, MetadataNamesAndStringIds) {
  const auto imported = importText(R"([
    {"name":"w","ph":"X","ts":0,"dur":1,"pid":"Spans","tid":"A \"b\""}, {"name":"v","ph":"X","ts":0,"dur":1,"pid":7},
    {"name":"process_name","ph":"M","pid":7,"args":{"name":"late name"}},
    {"name":"thread_name","ph":"M","pid":7,"tid":7,"args":{"name":"t\u00e9"}}])");
  ASSERT_EQ(imported->sink.processes.size(), 2U);
  EXPECT_EQ(imported->sink.processes[1].name, "late name");
  EXPECT_EQ(imported->sink.threads[1].name, "t\xC3\xA9");
  EXPECT_EQ(imported->sink.threads[1].tid, 7);
}

TEST(ImportChrome, TimesAreRelativeToTheEarliestEvent) {
  const auto imported = importText(R"([{"name":"b","ph":"X","ts":1700000000000100.5,"dur":1,"pid":1},
    {"name":"a","ph":"X","ts":1700000000000000,"dur":1,"pid":1}])");
  EXPECT_EQ(imported->only("a").start_ns, 0);
  EXPECT_EQ(imported->only("b").start_ns, 100500);
  EXPECT_EQ(imported->sink.meta_values.at("trace.start_unix_ns"), "1700000000000000000");
}

TEST(ImportChrome, WrongEventsAreCountedWithTheirPlace) {
  const auto imported = importText(
      "[\n{\"name\":\"ok\",\"ph\":\"X\",\"ts\":1,\"dur\":1},\nnull, 17, \"x\", [],\n"
      "{\"name\":\"no time\",\"ph\":\"X\",\"dur\":1},\n{\"name\":\"odd\",\"ph\":\"?\",\"ts\":1},\n"
      "{\"name\":\"far\",\"ph\":\"X\",\"ts\":9223372036854775807,\"dur\":1},\n"
      "{\"name\":\"negative\",\"ph\":\"X\",\"ts\":3,\"dur\":-2}]");
  EXPECT_EQ(imported->sink.all_events.size(), 2U);
  EXPECT_EQ(imported->only("negative").dur_ns, 0);
  EXPECT_EQ(Imported::counted(imported->summary.dropped, "values among the events"), 4);
  EXPECT_EQ(Imported::counted(imported->summary.dropped, "events whose time"), 2);
  const auto& example =
      imported->summary.dropped.at("events whose time (ts) is missing, not a number or out of range").example;
  EXPECT_NE(example.find("line 4"), std::string::npos) << example;
  EXPECT_EQ(Imported::counted(imported->summary.not_understood, "events of an unknown phase"), 1);
}

TEST(ImportChrome, ADamagedEventCostsOnlyItself) {
  for (const std::string bad : {R"({"name":"bad","ph":"X","ts"=2})", R"({"name":"bad",ph:"X"})",
                                R"({"name" "bad"})", R"({"name":"bad","args":{"a":}})"}) {
    SCOPED_TRACE(bad);
    const auto imported = importText("[" + std::string(kRange) + ",\n" + bad + ",\n" + kRange + "]");
    EXPECT_EQ(imported->named("work").size(), 2U);
    EXPECT_EQ(Imported::counted(imported->summary.dropped, "damaged events"), 1);
    EXPECT_NE(imported->summary.dropped.at("damaged events").example.find("line 2"), std::string::npos);
  }
}

TEST(ImportChrome, CutFilesKeepTheWholePrefix) {
  const std::string whole = "{\"traceEvents\":[" + std::string(kRange) + ",\n" + kRange + "]}";
  for (std::size_t length = 30; length < whole.size(); ++length) {
    const auto imported = importText(whole.substr(0, length));
    const std::size_t events = length < 15 + sizeof kRange ? 0 : length < whole.size() - 2 ? 1 : 2;
    if (length > 15 + sizeof kRange && length < whole.size() - 2) {
      EXPECT_EQ(imported->sink.all_events.size(), events) << length;
    }
    if (imported->error.empty()) {
      EXPECT_FALSE(imported->summary.complete()) << length;
      EXPECT_NE(imported->summary.inputs[0].damage.find("byte"), std::string::npos);
      EXPECT_EQ(imported->sink.losses.size(), 1U);
    } else {
      EXPECT_EQ(imported->code, ErrorCode::invalidInput);
    }
  }
}

TEST(ImportChrome, EventsAcrossTheEdgeOfTheWindow) {
  // More than the window of one megabyte, in events of changing length.
  std::string text = "[";
  const int count = 20000;
  for (int i = 0; i < count; ++i) {
    text += "{\"name\":\"e" + std::string(static_cast<std::size_t>(i % 97), 'x') +
            "\",\"ph\":\"X\",\"ts\":" + std::to_string(i * 10) +
            ",\"dur\":5,\"pid\":1,\"tid\":1,\"args\":{\"a\":[1,2,{\"b\":\"}\"}]}},\n";
  }
  text += "{\"name\":\"long" + std::string(3 << 20, 'y') +
          "\",\"ph\":\"X\",\"ts\":1,\"dur\":1,\"pid\":1,\"tid\":2}]";
  const auto imported = importText(text);
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->sink.all_events.size(), static_cast<std::size_t>(count) + 1);
  EXPECT_EQ(Imported::counted(imported->summary.repaired, "names with bytes"), 1);  // the long one
}

TEST(ImportChrome, RecordsAreBounded) {
  ImportOptions options;
  options.limits.record_bytes = 2 << 20;
  const auto imported =
      importText("[" + std::string(kRange) + ",{\"name\":\"" + std::string(4 << 20, 'x') + "\"}]", options);
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->sink.all_events.size(), 1U);
  EXPECT_FALSE(imported->summary.complete());
  EXPECT_NE(imported->summary.inputs[0].damage.find("longer than"), std::string::npos);
}

TEST(ImportChrome, DeepNestingIsDamageNotACrash) {
  const auto imported = importText("[" + std::string(kRange) + ",{\"args\":" + std::string(200000, '[') +
                                   std::string(200000, ']') + "}," + kRange + "]");
  EXPECT_EQ(imported->named("work").size(), 2U);
  EXPECT_EQ(Imported::counted(imported->summary.dropped, "damaged events"), 1);
}

TEST(ImportChrome, WhatIsNoTraceIsRefusedWithAReason) {
  EXPECT_NE(importText("{\"spans\":[1]}")->error.find("without traceEvents"), std::string::npos);
  EXPECT_NE(importText("hello world\n")->error.find("text of an unknown kind"), std::string::npos);
  EXPECT_NE(importText(std::string("\x00\x01\x02\x03zzz", 7))->error.find("binary data"), std::string::npos);
  EXPECT_NE(importText(std::string("\xFF\xFE{\0\"\0", 6))->error.find("iconv"), std::string::npos);
  EXPECT_NE(importText("PK\x03\x04zip")->error.find("zip"), std::string::npos);
  EXPECT_NE(importText("[]")->error.find("holds no events"), std::string::npos);
  EXPECT_NE(importText("")->error.find("empty"), std::string::npos);
  EXPECT_EQ(importFiles({"/nowhere/at/all"})->code, ErrorCode::notFound);
  EXPECT_EQ(importFiles({})->code, ErrorCode::invalidInput);
}

TEST(ImportChrome, SeveralInputsKeepTheirTracksApart) {
  const TemporaryFile first(R"([{"name":"a","ph":"X","ts":1700000000000000,"dur":10,"pid":1,"tid":1}])");
  const TemporaryFile second(R"([{"name":"b","ph":"X","ts":1700000000000004,"dur":10,"pid":1,"tid":1}])");
  const TemporaryFile third(R"([{"name":"c","ph":"X","ts":55,"dur":10,"pid":1,"tid":1}])");
  const auto imported = importFiles({first.path(), second.path(), third.path()});
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->sink.tracks.size(), 3U);
  EXPECT_EQ(imported->only("b").start_ns, 4000);  // by the wall clock
  EXPECT_EQ(imported->only("c").start_ns, 0);     // has none: begins with the trace
  EXPECT_EQ(imported->summary.end_ns, 14000);
  EXPECT_EQ(imported->summary.notes.size(), 2U);
}

TEST(ImportChrome, ArgumentsOfUnknownToolsAreKept) {
  const auto imported =
      importText(R"([{"name":"a","cat":"net","ph":"X","ts":1,"dur":1,"pid":1,"args":{ "url" : "x y",
    "list": [1, {"deep": null}] }}, {"name":"b","cat":"net","ph":"X","ts":3,"dur":1,"pid":1},
    {"name":"c","ph":"B","ts":5,"pid":1,"args":{"n":1}}, {"ph":"E","ts":6,"pid":1},
    {"name":"d","ph":"X","ts":8,"dur":1,"pid":1,"args":{"n":NaN}}])");
  const auto args = [&](const char* name) { return imported->sink.text(imported->only(name).args); };
  EXPECT_EQ(args("a"), R"({"url":"x y","list":[1,{"deep":null}]})");
  EXPECT_EQ(args("b"), R"({"category":"net"})");
  EXPECT_EQ(args("c"), R"({"n":1})");
  EXPECT_EQ(args("d"), "");
  EXPECT_EQ(Imported::counted(imported->summary.dropped, "arguments of events"), 1);
}

TEST(ImportChrome, TracksAreBounded) {
  std::string text = "[";
  for (int i = 0; i < 70000; ++i)
    text += "{\"name\":\"x\",\"ph\":\"X\",\"ts\":1,\"dur\":1,\"pid\":1,\"tid\":" + std::to_string(i) + "},";
  const auto imported = importText(text + "]");
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->sink.all_events.size(), 70000U);
  EXPECT_EQ(imported->sink.tracks.size(), 65537U);
  EXPECT_EQ(imported->summary.notes.size(), 1U);
}

TEST(ImportChrome, RunsThatOverlapAreSorted) {
  std::string text = "[";
  std::vector<int> starts;
  for (int run = 0; run < 9; ++run) {
    for (int i = 0; i < 50; ++i) starts.push_back(run * 37 + i * (run % 3 + 1));
  }
  for (const int start : starts) {
    text +=
        "{\"name\":\"x\",\"ph\":\"X\",\"dur\":1,\"pid\":1,\"tid\":1,\"ts\":" + std::to_string(start) + "},";
  }
  const auto imported = importText(text + "]");
  std::sort(starts.begin(), starts.end());
  ASSERT_EQ(imported->sink.all_events.size(), starts.size());
  for (std::size_t i = 0; i < starts.size(); ++i)
    EXPECT_EQ(imported->sink.all_events[i].second.start_ns, std::int64_t{1000} * starts[i]);
}

TEST(ImportChrome, CanBeInterrupted) {
  std::atomic<bool> cancel = true;
  ImportOptions options;
  options.cancel = &cancel;
  const auto imported = importText("[" + std::string(kRange) + "]", options);
  EXPECT_EQ(imported->code, ErrorCode::cancelled);
}

// Horovod's timeline: one process per tensor, no thread ids, ends without names, never closed.
TEST(ImportChrome, HorovodTimeline) {
  const auto imported = importText(R"([
{"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "allreduce.conv1_weight"}},
{"name": "process_sort_index", "ph": "M", "pid": 1, "args": {"sort_index": 1}},
{"ph": "B", "name": "NEGOTIATE_ALLREDUCE", "ts": 1000, "pid": 1},
{"ph": "X", "name": "0", "ts": 1001, "dur": 0, "pid": 1},
{"ph": "X", "name": "1", "ts": 1250, "dur": 0, "pid": 1},
{"ph": "E", "ts": 1260, "pid": 1},
{"ph": "i", "name": "CYCLE_START", "ts": 1261, "s": "g"},
{"ph": "B", "name": "ALLREDUCE", "ts": 1300, "pid": 1},
{"name": "process_name", "ph": "M", "pid": 2, "args": {"name": "allreduce.fc1_weight"}},
{"ph": "B", "name": "NEGOTIATE_ALLREDUCE", "ts": 1310, "pid": 2},
{"ph": "B", "name": "MEMCPY_IN_FUSION_BUFFER", "ts": 1320, "pid": 1},
{"ph": "E", "ts": 1330, "pid": 1},
{"ph": "B", "name": "NCCL_ALLREDUCE", "ts": 1330, "pid": 1},
{"ph": "E", "ts": 1400, "pid": 1},
{"ph": "E", "ts": 1410, "pid": 1, "args": {"dtype": "float32", "shape": "[20, 1, 5, 5]"}},
)");
  ASSERT_EQ(imported->error, "");
  EXPECT_TRUE(imported->summary.complete());
  EXPECT_EQ(imported->named("NEGOTIATE_ALLREDUCE").size(), 2U);
  const auto [track, allreduce] = imported->named("ALLREDUCE").front();
  EXPECT_EQ(allreduce.start_ns, 300'000);
  EXPECT_EQ(allreduce.dur_ns, 110'000);
  EXPECT_EQ(imported->sink.text(allreduce.args), R"({"dtype":"float32","shape":"[20, 1, 5, 5]"})");
  EXPECT_EQ(imported->only("NCCL_ALLREDUCE").dur_ns, 70'000);
  EXPECT_EQ(imported->only("NCCL_ALLREDUCE").depth, 1);
  EXPECT_EQ(imported->only("1").start_ns, 250'000);  // when that rank was ready
  EXPECT_EQ(imported->sink.processes.at(imported->track(track).process.value - 1).name,
            "allreduce.conv1_weight");
  EXPECT_NE(imported->track(track).process.value,
            imported->track(imported->named("NEGOTIATE_ALLREDUCE").back().first).process.value);
  EXPECT_EQ(imported->events("instant"), 1);
  // The second tensor still waits for the other rank.
  EXPECT_EQ(Imported::counted(imported->summary.repaired, "ranges without an end"), 1);
  EXPECT_EQ(Imported::counted(imported->summary.dropped, ""), 0);
}

}  // namespace
}  // namespace pitwall::test::chrome_test
