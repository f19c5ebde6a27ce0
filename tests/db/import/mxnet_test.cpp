// MXNet's profiler: its JSON, with every operator twice and hashes for ids, and the tables of dumps().
#include <gtest/gtest.h>

#include "tests/db/import/imported.h"

namespace pitwall::test::mxnet_test {
namespace {

const char kHead[] = R"({
    "traceEvents": [
        {"ph": "M", "args": {"name": "cpu/0"}, "pid": 0, "name": "process_name"},
        {"ph": "M", "args": {"name": "gpu/0"}, "pid": 1, "name": "process_name"},
        {"ph": "M", "args": {"name": "MXNET_C_API"}, "pid": 13084354670121613409, "name": "process_name"},
)";
const char kEvents[] = R"(
    {"name": "Convolution", "cat": "operator", "ph": "B", "ts": 1559670569136168, "pid": 1, "tid": 17343844709549807314}
,
    {"name": "Convolution", "cat": "operator", "ph": "E", "ts": 1559670569136268, "pid": 1, "tid": 17343844709549807314}
,
    {"name": "Convolution", "cat": "operator", "ph": "b", "ts": 1559670569136169, "id": 17343844709549807314, "pid": 3060606181218273969, "tid": 17343844709549807314}
,
    {"name": "Convolution", "cat": "operator", "ph": "e", "ts": 1559670569136267, "id": 17343844709549807314, "pid": 3060606181218273969, "tid": 17343844709549807314}
,
    {"name": "MXNDArrayWaitToRead", "cat": "MXNET_C_API", "ph": "b", "ts": 1559670569136100, "id": 5, "pid": 13084354670121613409, "tid": 5}
,
    {"name": "MXNDArrayWaitToRead", "cat": "MXNET_C_API", "ph": "e", "ts": 1559670569136300, "id": 5, "pid": 13084354670121613409, "tid": 5}
,
    {"name": "Memory: gpu/0", "cat": "Device Storage", "ph": "C", "ts": 1559670569136150, "args": { "Memory: gpu/0": 201320 }, "pid": 9785678402843609691, "tid": 5}
)";
const char kTail[] = "\n\n    ],\n    \"displayTimeUnit\": \"ms\"\n}\n";

void expectWhole(const Imported& imported) {
  ASSERT_EQ(imported.error, "");
  EXPECT_EQ(imported.summary.inputs[0].format, "MXNet profiler JSON");
  const Event operation = imported.only("Convolution");
  EXPECT_EQ(operation.kind, EventKind::operatorRun);
  EXPECT_EQ(operation.dur_ns, 100'000);
  EXPECT_EQ(imported.sink.facts.at(operation.op.value - 1).name, "Convolution");
  EXPECT_EQ(imported.only("MXNDArrayWaitToRead").kind, EventKind::wait);
  EXPECT_EQ(Imported::counted(imported.summary.repaired, "operators that MXNet writes twice"), 1);
  EXPECT_EQ(imported.samples("memory live: gpu/0").at(0).value, 201320);
  EXPECT_EQ(imported.sink.processes.size(), 1U);
}

TEST(ImportMxNet, OperatorsOnceThreadsByHash) {
  const auto imported = importText(std::string(kHead) + kEvents + kTail);
  expectWhole(*imported);
  EXPECT_TRUE(imported->summary.complete());
  const TrackInfo& track = imported->track(imported->named("Convolution").front().first);
  EXPECT_EQ(track.name, "gpu/0 worker 17343844709549807314");
  EXPECT_EQ(imported->sink.threads.at(track.thread.value - 1).tid,
            static_cast<std::int64_t>(17343844709549807314ULL));
  EXPECT_EQ(imported->sink.meta_values.at("trace.start_unix_ns"), "1559670569136100000");
}

TEST(ImportMxNet, KilledProcessLacksTheTail) {
  const auto imported = importText(std::string(kHead) + kEvents);
  expectWhole(*imported);
  EXPECT_FALSE(imported->summary.complete());
  const std::string events(kEvents);
  const auto cut = importText(std::string(kHead) + events.substr(0, events.size() - 60));
  EXPECT_EQ(cut->events("operator"), 1);
  EXPECT_NE(cut->summary.inputs[0].damage.find("the last event is cut"), std::string::npos);
}

// A second dump of one process begins with a comma and has no names of devices.
TEST(ImportMxNet, SecondDumpWithoutAHead) {
  const std::string events(kEvents);
  const std::size_t api = events.find("    {\"name\": \"MXNDArrayWait");
  const auto imported = importText(",\n" + events.substr(api) + ",\n" + events.substr(0, api - 2) + kTail);
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->events("operator"), 1);
  EXPECT_EQ(Imported::counted(imported->summary.repaired, "a document that begins with a comma"), 1);
}

const char kTable[] = R"(
Profile Statistics:
	Note the difference in units for different entries.
Device Storage
=================
Name                          Total Count    Min Use  (kB)    Max Use  (kB)    Avg Use  (kB)
----                          -----------    -------------    -------------    -------------
Memory: cpu/0                          12           0.2560          80.5000          40.1220

MXNET_C_API
=================
Name                          Total Count        Time (ms)    Min Time (ms)    Max Time (ms)    Avg Time (ms)
----                          -----------        ---------    -------------    -------------    -------------
MXNDArrayWaitAll                        1          51.0570          51.0570          51.0570          51.0570
MXNet C API Calls                     489           0.4890           0.0010           0.4890           0.2440

operator
=================
Name                          Total Count        Time (ms)    Min Time (ms)    Max Time (ms)    Avg Time (ms)
----                          -----------        ---------    -------------    -------------    -------------
Convolution                             4           5.4090           1.0310           1.6730           1.3522
_backward_a name with spaces that is long          2           9.2630           1.0300           3.6010           2.3157

)";

TEST(ImportMxNet, TablesBecomeOneEventARow) {
  const auto imported = importText(kTable);
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(imported->summary.inputs[0].format, "MXNet profiler table (dumps)");
  const Event convolution = imported->only("Convolution");
  EXPECT_EQ(convolution.dur_ns, 5'409'000);
  EXPECT_EQ(convolution.value, 4);
  EXPECT_EQ(convolution.kind, EventKind::operatorRun);
  const Event backward = imported->only("_backward_a name with spaces that is long");
  EXPECT_EQ(backward.start_ns, 5'409'000);
  EXPECT_EQ(imported->sink.facts.at(backward.op.value - 1).phase, Phase::backward);
  EXPECT_EQ(imported->only("MXNDArrayWaitAll").kind, EventKind::wait);
  EXPECT_EQ(imported->samples("memory live: cpu/0").at(0).value, 80500);
  EXPECT_EQ(imported->sink.meta_values.at("mxnet.table.1.operator.Convolution"),
            "count 4, 5.4090, 1.0310, 1.6730, 1.3522");
  EXPECT_EQ(imported->sink.meta_values.at("import.timeline"), "sums only");
}

TEST(ImportMxNet, TablesOfOldVersionsCountOperatorsTwice) {
  std::string old(kTable);
  const std::string now = "Profile Statistics:\n\tNote the difference in units for different entries.";
  old.replace(old.find(now), now.size(),
              "Profile Statistics.\n\tNote that counter items are counter values and not time units.");
  const auto imported = importText(old);
  EXPECT_EQ(imported->only("Convolution").value, 2);
  EXPECT_EQ(imported->only("Convolution").dur_ns, 2'704'500);
  EXPECT_EQ(imported->only("MXNDArrayWaitAll").dur_ns, 51'057'000);
  EXPECT_EQ(Imported::counted(imported->summary.repaired, "operators that this version"), 2);
}

}  // namespace
}  // namespace pitwall::test::mxnet_test
