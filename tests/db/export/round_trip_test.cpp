// Export and import: the same tables, for each lossless format.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "db/export.h"
#include "db/import.h"
#include "db/store.h"
#include "tests/db/export/trace_dump.h"
#include "tests/support/random_trace.h"
#include "tests/support/temp_folder.h"

namespace pitwall::test::round_trip_test {
namespace {

ExportOptions as(ExportFormat format) {
  ExportOptions options;
  options.format = format;
  return options;
}

std::unique_ptr<Trace> opened(const std::string& path) {
  auto trace = Trace::open(path);
  EXPECT_TRUE(trace.has_value()) << trace.error().message;
  return trace.has_value() ? std::move(*trace) : nullptr;
}

std::unique_ptr<Trace> randomTrace(const TempFolder& folder, std::uint64_t seed) {
  const std::string path = folder / ("random " + std::to_string(seed) + ".pitwall");
  auto sink = createTrace(path, {.chunk_events = 64});
  EXPECT_TRUE(sink.has_value());
  feed(**sink, makeRandomTrace({.seed = seed, .tracks = 4, .events_per_track = 300}));
  EXPECT_TRUE((*sink)->finish().has_value());
  sink->reset();
  return opened(path);
}

void expectSame(const std::vector<std::string>& before, const std::vector<std::string>& after) {
  ASSERT_GT(before.size(), 500U);
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) ASSERT_EQ(before[i], after[i]) << i;
  EXPECT_EQ(before.size(), after.size());
}

class RoundTrip : public testing::TestWithParam<ExportFormat> {};

TEST_P(RoundTrip, ARandomTraceComesBack) {
  const TempFolder folder;
  for (const std::uint64_t seed : {1, 2, 3}) {
    auto trace = randomTrace(folder, seed);
    const std::string exported = folder / "exported";
    const auto summary = exportTrace(*trace, exported, as(GetParam()));
    ASSERT_TRUE(summary.has_value()) << summary.error().message;
    std::string back = exported;
    if (GetParam() != ExportFormat::pitwall) {
      back = folder / "back.pitwall";
      const std::vector<std::string> inputs{exported};
      const auto imported = importToFile(inputs, back);
      ASSERT_TRUE(imported.has_value()) << imported.error().message;
      EXPECT_TRUE(imported->complete());
      EXPECT_TRUE(imported->dropped.empty()) << toText(*imported);
      EXPECT_TRUE(imported->not_understood.empty()) << toText(*imported);
    }
    expectSame(dump(*trace), dump(*opened(back)));
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, RoundTrip,
                         testing::Values(ExportFormat::chrome, ExportFormat::pitwall, ExportFormat::rows),
                         [](const auto& one) {
                           return one.param == ExportFormat::chrome    ? "chrome"
                                  : one.param == ExportFormat::pitwall ? "pitwall"
                                                                       : "rows";
                         });

// MXNet's own trace, exported in its format again: everything that the format can hold is the same.
TEST(RoundTripMxnet, OperatorsCallsAndCountersComeBack) {
  const TempFolder folder;
  std::ofstream(folder / "profile.json") << R"({
    "traceEvents": [
        {"ph": "M", "args": {"name": "cpu/0"}, "pid": 0, "name": "process_name"},
        {"ph": "M", "args": {"name": "gpu/0"}, "pid": 1, "name": "process_name"},
    {"name": "Convolution", "cat": "operator", "ph": "B", "ts": 1559670569136168, "pid": 1, "tid": 17343844709549807314},
    {"name": "Convolution", "cat": "operator", "ph": "E", "ts": 1559670569136268, "pid": 1, "tid": 17343844709549807314},
    {"name": "Activation", "cat": "operator", "ph": "B", "ts": 1559670569136368, "pid": 0, "tid": 17},
    {"name": "Activation", "cat": "operator", "ph": "E", "ts": 1559670569136468, "pid": 0, "tid": 17},
    {"name": "MXNDArrayWaitToRead", "cat": "MXNET_C_API", "ph": "b", "ts": 1559670569136100, "id": 5, "pid": 99, "tid": 5},
    {"name": "MXNDArrayWaitToRead", "cat": "MXNET_C_API", "ph": "e", "ts": 1559670569136300, "id": 5, "pid": 99, "tid": 5},
    {"name": "Memory: gpu/0", "cat": "Device Storage", "ph": "C", "ts": 1559670569136150, "args": { "Memory: gpu/0": 201320 }, "pid": 98, "tid": 5}
    ],
    "displayTimeUnit": "ms"
})";
  const auto facts = [](Trace& trace) {
    std::vector<std::string> lines;
    const auto rows = trace.query(
        "SELECT e.name || ' ' || e.kind || ' ' || e.start_ns || ' ' || e.dur_ns || ' ' || substr(t.name, 1, "
        "5) FROM "
        "event AS e JOIN track AS t ON t.id = e.track UNION ALL SELECT name || ' ' || time_ns || ' ' || "
        "value FROM "
        "counter UNION ALL SELECT value FROM meta WHERE key = 'trace.start_unix_ns' ORDER BY 1");
    EXPECT_TRUE(rows.has_value());
    for (const auto& row : rows->rows) lines.push_back(std::get<std::string>(row[0]));
    return lines;
  };
  const auto import = [](const std::string& from, const std::string& to) {
    const std::vector<std::string> inputs{from};
    const auto imported = importToFile(inputs, to);
    EXPECT_TRUE(imported.has_value()) << imported.error().message;
    return opened(to);
  };
  auto before = import(folder / "profile.json", folder / "a.pitwall");
  for (const bool doubled : {true, false}) {
    ExportOptions options = as(ExportFormat::mxnet);
    options.mxnet_doubled = doubled;
    const auto exported = exportTrace(*before, folder / "again.json", options);
    ASSERT_TRUE(exported.has_value()) << exported.error().message;
    auto after = import(folder / "again.json", folder / "b.pitwall");
    EXPECT_EQ(facts(*before).size(), 5U);
    EXPECT_THAT(facts(*after), testing::ElementsAreArray(facts(*before)));
  }
}

// Operator facts that MXNet's own profiler lacks are among the arguments.
TEST(RoundTripMxnet, WhatIsKnownOfAnOperatorComesBack) {
  const TempFolder folder;
  {
    auto sink = createTrace(folder / "a.pitwall", {});
    ASSERT_TRUE(sink.has_value());
    const auto process = (*sink)->process({.pid = 7, .name = "train", .command_line = "train"});
    const auto track = (*sink)->track(
        {TrackKind::thread, process, (*sink)->thread({process, 8, "worker"}), {}, "worker", ""});
    const std::vector<OperatorFacts> all{
        {"Convolution", "conv1", "64x1x28x28,20x1x5x5->64x20x24x24", "float32", "onednn", "jit:avx512_core",
         Phase::forward, 36'864'000, 202'704, 2'949'120},
        {"Convolution", "conv1", "8x1x28x28,20x1x5x5->8x20x24x24", "float32", "onednn", "jit:avx512_core",
         Phase::forward, 4'608'000, 27'088, 368'640},
        {"_backward_FullyConnected", "a \"quoted\" name", "", "", "reference", "", Phase::backward, 0, 0, 0},
        {"_backward_none", "", "", "", "", "", Phase::none, 0, 0, 0},  // the name implies another phase
        {"sgd_update", "", "", "", "", "", Phase::update, 0, 0, 0},
        {"sqrt", "", "", "", "", "", Phase::none, 1'234'567'890'123'456'789, 0, 5}};
    TimeNs now = 1000;
    for (int times = 1; const auto& facts : all) {
      const auto op = (*sink)->operatorFacts(facts);
      for (int i = 0; i < times; ++i, now += 1000) {
        const Event event{.start_ns = now,
                          .dur_ns = 100 * times,
                          .pushed_ns = now,
                          .ready_ns = now,
                          .name = (*sink)->string(facts.name),
                          .op = op,
                          .kind = EventKind::operatorRun};
        (*sink)->events(track, {&event, 1});
      }
      ++times;
    }
    ASSERT_TRUE((*sink)->finish().has_value());
  }
  const auto facts = [](Trace& trace) {
    const auto rows = trace.query(
        "SELECT json_array(o.name, o.layer, o.shapes, o.dtype, o.backend, o.implementation, o.phase, o.flop, "
        "o.bytes_read, o.bytes_written, count(*), sum(dur_ns)) FROM event AS e JOIN operator AS o ON o.id = "
        "e.operator "
        "GROUP BY o.id ORDER BY 1");
    std::vector<std::string> lines;
    EXPECT_TRUE(rows.has_value()) << rows.error().message;
    for (const auto& row : rows->rows) lines.push_back(std::get<std::string>(row[0]));
    return lines;
  };
  auto before = opened(folder / "a.pitwall");
  ASSERT_EQ(facts(*before).size(), 6U);
  for (const bool doubled : {true, false}) {
    ExportOptions options = as(ExportFormat::mxnet);
    options.mxnet_doubled = doubled;
    ASSERT_TRUE(exportTrace(*before, folder / "out.json", options).has_value());
    const std::vector<std::string> inputs{folder / "out.json"};
    const auto imported = importToFile(inputs, folder / "b.pitwall");
    ASSERT_TRUE(imported.has_value()) << imported.error().message;
    for (const auto& dropped : imported->dropped) ADD_FAILURE() << dropped.first;
    EXPECT_EQ(facts(*opened(folder / "b.pitwall")), facts(*before));
    std::filesystem::remove(folder / "b.pitwall");
  }
}

// A range and the rest, exported separately: each event of the whole is in one of them or in both.
TEST(ExportPart, ARangeHasWhatTouchesIt) {
  const TempFolder folder;
  auto trace = randomTrace(folder, 7);
  ExportOptions options = as(ExportFormat::pitwall);
  options.range = ExportRange{300'000, 500'000};
  ASSERT_TRUE(exportTrace(*trace, folder / "part.pitwall", options).has_value());
  auto part = opened(folder / "part.pitwall");
  std::size_t expected = 0, found = 0;
  for (std::uint32_t id = 1; id <= trace->tracks().size(); ++id) {
    const auto events = trace->events(TrackId{id});
    for (const Event& event : *events) {
      expected +=
          event.start_ns < 500'000 && (event.start_ns + event.dur_ns > 300'000 || event.start_ns >= 300'000);
    }
    found += part->events(TrackId{id})->size();
    const auto samples = part->counters(TrackId{id});
    for (const CounterSample& sample : *samples) {
      EXPECT_GE(sample.time_ns, 300'000);
      EXPECT_LT(sample.time_ns, 500'000);
    }
  }
  EXPECT_GT(expected, 100U);
  EXPECT_EQ(found, expected);
  EXPECT_EQ(part->meta("export.range_ns"), "300000..500000");
  const auto dangling = part->query(
      "SELECT count(*) FROM dependency WHERE source NOT IN (SELECT correlation FROM event) OR target NOT IN "
      "(SELECT "
      "correlation FROM event)");
  ASSERT_TRUE(dangling.has_value());
  EXPECT_EQ(std::get<std::int64_t>(dangling->rows[0][0]), 0);
}

TEST(ExportPart, ARankHasItsProcessesOnly) {
  const TempFolder folder;
  auto trace = randomTrace(folder, 9);
  ExportOptions options = as(ExportFormat::pitwall);
  options.rank = 1;
  ASSERT_TRUE(exportTrace(*trace, folder / "rank.pitwall", options).has_value());
  auto part = opened(folder / "rank.pitwall");
  const auto processes = part->query("SELECT count(*), min(rank), max(rank) FROM process");
  EXPECT_EQ(std::get<std::int64_t>(processes->rows[0][0]), 1);
  EXPECT_EQ(std::get<std::int64_t>(processes->rows[0][1]), 1);
  const auto tracks = part->query("SELECT count(*) FROM track WHERE process_id IS NULL");
  EXPECT_EQ(std::get<std::int64_t>(tracks->rows[0][0]), 0);
  // The stream of the random trace is of process 2, which has rank 1.
  EXPECT_EQ(part->tracks().size(), 1U);
  EXPECT_EQ(part->events(TrackId{1})->size(), trace->events(TrackId{5})->size());
  options.rank = 5;
  const auto none = exportTrace(*trace, folder / "none.pitwall", options);
  ASSERT_FALSE(none.has_value());
  EXPECT_THAT(none.error().message, testing::HasSubstr("has no rank 5; it has rank 0, 1"));
  EXPECT_FALSE(std::filesystem::exists(folder / "none.pitwall"));
}

}  // namespace
}  // namespace pitwall::test::round_trip_test
