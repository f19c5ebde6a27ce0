// Everything written to a sink is read back from the file.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <tuple>

#include "db/meta.h"
#include "tests/db/sqlite/trace_files.h"

namespace pitwall::test::round_trip_test {
namespace {

std::vector<std::string> sortedDescriptions(const std::vector<Event>& events) {
  std::vector<std::string> all;
  for (const Event& event : events) all.push_back(describe(event));
  std::sort(all.begin(), all.end());
  return all;
}

auto sortedSamples(const std::vector<CounterSample>& samples) {
  std::vector<std::pair<TimeNs, std::int64_t>> all;
  for (const CounterSample& s : samples) all.emplace_back(s.time_ns, std::bit_cast<std::int64_t>(s.value));
  std::sort(all.begin(), all.end());
  return all;
}

void expectSameDimensions(Trace& trace, const RandomTrace& content) {
  for (std::size_t i = 0; i < content.strings.size(); ++i)
    EXPECT_EQ(trace.string(StringId{static_cast<std::uint32_t>(i + 1)}), content.strings[i]);
  EXPECT_TRUE(std::ranges::equal(trace.operatorFacts(), content.facts));
  EXPECT_TRUE(std::ranges::equal(trace.kernelFacts(), content.kernels));
  EXPECT_TRUE(std::ranges::equal(trace.frames(), content.frames));
  EXPECT_TRUE(std::ranges::equal(trace.stacks(), content.stacks));
  const auto process = [](const ProcessInfo& p) { return std::tie(p.pid, p.name, p.command_line, p.rank); };
  EXPECT_TRUE(std::ranges::equal(trace.processes(), content.processes, {}, process, process));
  const auto thread = [](const ThreadInfo& t) { return std::tie(t.process, t.tid, t.name); };
  EXPECT_TRUE(std::ranges::equal(trace.threads(), content.threads, {}, thread, thread));
  const auto device = [](const DeviceInfo& d) { return std::tie(d.kind, d.index, d.name, d.memory_bytes); };
  EXPECT_TRUE(std::ranges::equal(trace.devices(), content.devices, {}, device, device));
  const auto track = [](const TrackInfo& t) {
    return std::tie(t.kind, t.process, t.thread, t.device, t.name, t.unit);
  };
  EXPECT_TRUE(std::ranges::equal(trace.tracks(), content.tracks, {}, track, track));
  const auto mark = [](const IterationMark& m) { return std::tie(m.index, m.time_ns, m.items); };
  EXPECT_TRUE(std::ranges::equal(trace.iterations(), content.iterations, {}, mark, mark));
  const auto loss = [](const Loss& l) { return std::tie(l.track, l.from_ns, l.to_ns, l.count, l.reason); };
  EXPECT_TRUE(std::ranges::equal(trace.losses(), content.losses, {}, loss, loss));
}

void expectLastOneWins(Trace& trace) {
  EXPECT_EQ(trace.meta("host.name"), "there");
  EXPECT_EQ(trace.meta("host.cpu_model"), std::nullopt);
  ASSERT_EQ(trace.settings().size(), 2u);
  EXPECT_EQ(trace.settings()[1].name, "OMP_NUM_THREADS");
  EXPECT_EQ(trace.settings()[1].value, "8");
  EXPECT_EQ(trace.settings()[1].source, SettingSource::program);
  ASSERT_EQ(trace.tunables().size(), 1u);
  EXPECT_EQ(trace.tunables()[0].value, 64);
  EXPECT_EQ(trace.tunables()[0].maximum, 512);
  EXPECT_EQ(trace.tunables()[0].source, SettingSource::environment);
}

void expectSameRows(Trace& trace, const RandomTrace& content) {
  for (std::size_t i = 0; i < content.tracks.size(); ++i) {
    const TrackId track{static_cast<std::uint32_t>(i + 1)};
    auto events = trace.events(track);
    ASSERT_TRUE(events.has_value()) << events.error().message;
    EXPECT_EQ(sortedDescriptions(*events), sortedDescriptions(content.events[i]));
    EXPECT_TRUE(std::ranges::is_sorted(*events, {}, &Event::start_ns));
    auto samples = trace.counters(track);
    ASSERT_TRUE(samples.has_value()) << samples.error().message;
    EXPECT_EQ(sortedSamples(*samples), sortedSamples(content.counters[i]));
    EXPECT_TRUE(std::ranges::is_sorted(*samples, {}, &CounterSample::time_ns));
  }
  auto dependencies = trace.dependencies();
  ASSERT_TRUE(dependencies.has_value());
  ASSERT_EQ(dependencies->size(), content.dependencies.size());
  for (std::size_t i = 0; i < dependencies->size(); ++i)
    EXPECT_TRUE(same((*dependencies)[i], content.dependencies[i])) << i;
}

struct Case {
  std::uint64_t seed;
  bool extreme;
  int chunk_events;
};

class RoundTrip : public ::testing::TestWithParam<Case> {};

TEST_P(RoundTrip, GivesBackEverything) {
  const auto [seed, extreme, chunk_events] = GetParam();
  const TempFolder folder;
  const std::string path = folder / "a.pitwall";
  const RandomTrace content = makeRandomTrace({.seed = seed, .extreme = extreme});
  writeTrace(path, content, {.chunk_events = chunk_events});
  const auto trace = mustOpen(path);
  ASSERT_NE(trace, nullptr);
  EXPECT_TRUE(trace->isComplete());
  EXPECT_EQ(trace->path(), path);
  expectSameDimensions(*trace, content);
  expectLastOneWins(*trace);
  expectSameRows(*trace, content);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RoundTrip,
                         ::testing::Values(Case{1, false, 8192}, Case{2, false, 1}, Case{3, false, 7},
                                           Case{4, true, 8192}, Case{5, true, 64}, Case{6, true, 1048576}),
                         [](const auto& test) {
                           return (test.param.extreme ? "extreme_" : "plain_") +
                                  std::to_string(test.param.seed);
                         });

TEST(RoundTrip, AnEmptyTraceIsATrace) {
  const TempFolder folder;
  ASSERT_TRUE(mustCreate(folder / "a.pitwall")->finish().has_value());
  const auto trace = mustOpen(folder / "a.pitwall");
  ASSERT_NE(trace, nullptr);
  EXPECT_TRUE(trace->isComplete());
  EXPECT_TRUE(trace->tracks().empty());
  EXPECT_TRUE(trace->events(TrackId{1}).value().empty());
  EXPECT_TRUE(trace->events(TrackId{}).value().empty());
  EXPECT_TRUE(trace->counters(TrackId{7}).value().empty());
  EXPECT_TRUE(trace->dependencies().value().empty());
  EXPECT_EQ(trace->string(StringId{}), "");
  EXPECT_EQ(trace->string(StringId{5}), "");
  EXPECT_EQ(mustCount(*trace, "SELECT count(*) FROM event"), 0);
}

TEST(RoundTrip, AFinishedTraceIsOneFile) {
  const TempFolder folder;
  writeTrace(folder / "a.pitwall", makeRandomTrace({}));
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    files.push_back(entry.path().filename().string());
  EXPECT_EQ(files, std::vector<std::string>{"a.pitwall"});
}

// Another tool can read the dimensions and the file's ids, without our library.
TEST(RoundTrip, PlainSqliteReadsTheDimensions) {
  const TempFolder folder;
  writeTrace(folder / "a.pitwall", makeRandomTrace({}));
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open_v2((folder / "a.pitwall").c_str(), &database, SQLITE_OPEN_READONLY, nullptr),
            SQLITE_OK);
  const auto first = [database](const char* sql) {
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(database, sql, -1, &statement, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW) << sql;
    const std::string text = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    return text;
  };
  EXPECT_EQ(first("PRAGMA application_id"), "1349088375");
  EXPECT_EQ(first("PRAGMA user_version"), "1");
  EXPECT_EQ(first("PRAGMA page_size"), "8192");
  EXPECT_EQ(first("PRAGMA integrity_check"), "ok");
  EXPECT_EQ(first("SELECT value FROM setting WHERE name = 'OMP_NUM_THREADS'"), "8");
  EXPECT_EQ(
      first("SELECT count(*) FROM pragma_table_list WHERE type = 'table' AND NOT strict AND schema = 'main'"
            " AND name NOT LIKE 'sqlite_%'"),
      "0");
  sqlite3_close(database);
}

TEST(RoundTrip, EqualStringsAndFactsShareAnId) {
  const TempFolder folder;
  const auto sink = mustCreate(folder / "a.pitwall");
  EXPECT_EQ(sink->string("a"), StringId{1});
  EXPECT_EQ(sink->string("b"), StringId{2});
  EXPECT_EQ(sink->string("a"), StringId{1});
  EXPECT_EQ(sink->string(""), StringId{3});
  OperatorFacts facts;
  facts.name = "Convolution";
  facts.layer = "conv1";
  EXPECT_EQ(sink->operatorFacts(facts), OperatorId{1});
  facts.bytes_read = 1;
  EXPECT_EQ(sink->operatorFacts(facts), OperatorId{2});
  facts.bytes_read = 0;
  EXPECT_EQ(sink->operatorFacts(facts), OperatorId{1});
  EXPECT_EQ(sink->kernelFacts({}), KernelId{1});
  EXPECT_EQ(sink->kernelFacts({.grid = {2, 1, 1}}), KernelId{2});
  EXPECT_EQ(sink->kernelFacts({.limiter = "registers"}), KernelId{3});
  EXPECT_EQ(sink->kernelFacts({.grid = {2, 1, 1}}), KernelId{2});
  ASSERT_TRUE(sink->finish().has_value());
  const auto trace = mustOpen(folder / "a.pitwall");
  EXPECT_EQ(trace->operatorFacts().size(), 2u);
  EXPECT_EQ(trace->kernelFacts().size(), 3u);
  EXPECT_EQ(mustCount(*trace, "SELECT count(*) FROM string"), 3);
}

TEST(RoundTrip, EventsOfSeveralCommitsComeInOrder) {
  const TempFolder folder;
  const auto sink = mustCreate(folder / "a.pitwall");
  const TrackId track = sink->track({});
  const Event inner{.start_ns = 50, .dur_ns = 10, .depth = 1};
  const Event outer{.start_ns = 10, .dur_ns = 100};
  const Event same_start{.start_ns = 50, .dur_ns = 20, .depth = 0};
  for (const Event* event : {&inner, &outer, &same_start}) {
    sink->events(track, {event, 1});
    ASSERT_TRUE(sink->flush().has_value());
  }
  ASSERT_TRUE(sink->finish().has_value());
  const auto trace = mustOpen(folder / "a.pitwall");
  const std::vector<Event> events = trace->events(track).value();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_TRUE(same(events[0], outer));
  EXPECT_TRUE(same(events[1], same_start));
  EXPECT_TRUE(same(events[2], inner));
}

}  // namespace
}  // namespace pitwall::test::round_trip_test
