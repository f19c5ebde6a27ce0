// Trace::open and reading on: every kind of invalid file gives an error that names the kind, and never a
// crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <random>

#include "tests/db/sqlite/trace_files.h"

namespace pitwall::test::open_trace_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

Error mustNotOpen(const std::string& path) {
  const auto trace = Trace::open(path);
  EXPECT_FALSE(trace.has_value()) << path;
  if (trace.has_value()) return {ErrorCode::internal, ""};
  EXPECT_THAT(trace.error().message, HasSubstr(path));
  return trace.error();
}

void executeOn(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK)
      << message << " in " << sql;
  sqlite3_free(message);
  sqlite3_close(database);
}

class OpenTrace : public ::testing::Test {
 protected:
  void SetUp() override { writeTrace(path_, makeRandomTrace({}), {.chunk_events = 100}); }

  TempFolder folder_;
  std::string path_ = folder_ / "a.pitwall";
};

TEST_F(OpenTrace, SaysWhatIsNotATrace) {
  EXPECT_EQ(mustNotOpen(folder_ / "none.pitwall").code, ErrorCode::notFound);
  EXPECT_EQ(mustNotOpen(path_ + "/below").code, ErrorCode::notFound);
  EXPECT_EQ(mustNotOpen(folder_.path().string()).code, ErrorCode::invalidInput);
  EXPECT_EQ(mustNotOpen("/dev/null").code, ErrorCode::invalidInput);

  writeBytes(folder_ / "text", "Dear diary, today the network was slow again.\n");
  Error error = mustNotOpen(folder_ / "text");
  EXPECT_EQ(error.code, ErrorCode::corruptTrace);
  EXPECT_THAT(error.message, HasSubstr("not a trace"));

  writeBytes(folder_ / "empty", "");
  error = mustNotOpen(folder_ / "empty");
  EXPECT_EQ(error.code, ErrorCode::corruptTrace);
  EXPECT_THAT(error.message, HasSubstr("empty"));

  executeOn(folder_ / "other.db", "CREATE TABLE meta(key, value)");
  error = mustNotOpen(folder_ / "other.db");
  EXPECT_EQ(error.code, ErrorCode::corruptTrace);
  EXPECT_THAT(error.message, HasSubstr("another program"));
}

TEST_F(OpenTrace, RefusesANewerSchema) {
  executeOn(path_, "PRAGMA user_version = 2");
  const Error error = mustNotOpen(path_);
  EXPECT_EQ(error.code, ErrorCode::versionMismatch);
  EXPECT_THAT(error.message, HasSubstr("newer Pitwall"));
}

TEST_F(OpenTrace, RefusesASchemaWithoutVersion) {
  executeOn(path_, "PRAGMA user_version = 0");
  EXPECT_EQ(mustNotOpen(path_).code, ErrorCode::corruptTrace);
}

TEST_F(OpenTrace, NoticesEveryTruncation) {
  const std::string whole = readBytes(path_);
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{15}, std::size_t{50}, std::size_t{99}, std::size_t{100},
        std::size_t{4096}, std::size_t{8191}, std::size_t{8192}, std::size_t{8193}, whole.size() / 2,
        whole.size() - 8192, whole.size() - 1}) {
    writeBytes(path_, whole.substr(0, size));
    const Error error = mustNotOpen(path_);
    EXPECT_EQ(error.code, ErrorCode::corruptTrace) << size << ": " << error.message;
  }
}

TEST_F(OpenTrace, NoticesMissingTablesAndOddRows) {
  const std::string whole = readBytes(path_);
  for (const char* sql :
       {"DROP TABLE event_chunk", "DROP TABLE string", "ALTER TABLE operator DROP COLUMN shapes",
        "DELETE FROM string WHERE id = 3", "UPDATE string SET id = -7 WHERE id = 1",
        "UPDATE track SET kind = 'tram' WHERE id = 1", "UPDATE operator SET phase = 'sideways' WHERE id = 2",
        "UPDATE setting SET source = 'stars'", "UPDATE tunable SET source = 'stars'",
        "UPDATE thread SET process_id = 99 WHERE id = 1", "UPDATE track SET thread_id = 99 WHERE id = 1",
        "UPDATE track SET device_id = 99 WHERE id = 1", "UPDATE loss SET track_id = 99",
        "UPDATE event_chunk SET track_id = 99 WHERE id = 1",
        "UPDATE event_chunk SET track_id = -1 WHERE id = 1",
        "UPDATE event_chunk SET event_count = 0 WHERE id = 1",
        "UPDATE event_chunk SET event_count = 1099511627776 WHERE id = 1",
        "UPDATE dependency_chunk SET dependency_count = -3",
        "UPDATE counter_chunk SET sample_count = 9999999"}) {
    writeBytes(path_, whole);
    executeOn(path_, sql);
    const Error error = mustNotOpen(path_);
    EXPECT_EQ(error.code, ErrorCode::corruptTrace) << sql << ": " << error.message;
  }
}

// Opens, since the summaries are valid; the damage is reported when the chunk is read.
TEST_F(OpenTrace, NamesADamagedChunk) {
  const std::string whole = readBytes(path_);
  struct Damage {
    const char* sql;
    const char* column;
  };
  for (const auto& [sql, column] :
       {Damage{"UPDATE event_chunk SET dur = zeroblob(length(dur)) WHERE id = 101", "dur"},
        Damage{"UPDATE event_chunk SET start = x'' WHERE id = 101", "start"},
        Damage{"UPDATE event_chunk SET value = substr(value, 1, length(value) - 1) WHERE id = 101", "value"},
        Damage{"UPDATE event_chunk SET event_count = 1048576 WHERE id = 101", "start"},
        Damage{"UPDATE event_chunk SET depth = x'ff00000000000000000000000000' WHERE id = 101", "depth"},
        Damage{"UPDATE event_chunk SET name = correlation WHERE id = 101", "name"},
        Damage{"UPDATE event_chunk SET operator = pushed_before WHERE id = 101", "operator"}}) {
    writeBytes(path_, whole);
    executeOn(path_, sql);
    const auto trace = mustOpen(path_);
    ASSERT_NE(trace, nullptr) << sql;
    const auto events = trace->events(TrackId{1});
    ASSERT_FALSE(events.has_value()) << sql;
    EXPECT_EQ(events.error().code, ErrorCode::corruptTrace);
    EXPECT_THAT(events.error().message, HasSubstr("event_chunk 101")) << sql;
    EXPECT_THAT(events.error().message, HasSubstr(std::string("column ") + column)) << sql;

    const auto rows = trace->query(
        "SELECT sum(length(name) + depth + value + dur_ns % 2 + start_ns % 2), max(operator) FROM event");
    ASSERT_FALSE(rows.has_value()) << sql;
    EXPECT_EQ(rows.error().code, ErrorCode::corruptTrace) << rows.error().message;
    EXPECT_THAT(rows.error().message, HasSubstr("event_chunk 101")) << sql;
    EXPECT_TRUE(trace->events(TrackId{2}).has_value()) << "other tracks are whole";
  }
}

TEST_F(OpenTrace, NamesADamagedDependencyOrCounterChunk) {
  executeOn(
      path_,
      "UPDATE dependency_chunk SET target = x'00'; UPDATE counter_chunk SET value = time WHERE track_id = 5;"
      "UPDATE counter_chunk SET value = x'01' WHERE track_id = 6");
  const auto trace = mustOpen(path_);
  EXPECT_THAT(trace->dependencies().error().message, HasSubstr("dependency_chunk 1, column target"));
  EXPECT_THAT(trace->counters(TrackId{6}).error().message, HasSubstr("column value"));
  EXPECT_THAT(trace->query("SELECT * FROM dependency").error().message, HasSubstr("dependency_chunk 1"));
  EXPECT_EQ(trace->query("SELECT * FROM counter").error().code, ErrorCode::corruptTrace);
}

// For any change of the bytes: an error or a result.
TEST_F(OpenTrace, SurvivesFlippedBytes) {
  const std::string whole = readBytes(path_);
  std::mt19937_64 random(11);
  int opened = 0, refused = 0;
  for (int round = 0; round < 150; ++round) {
    std::string bytes = whole;
    for (int flips = 0; flips < 40; ++flips) bytes[random() % bytes.size()] = static_cast<char>(random());
    // The first page holds the schema: most files would fail there.
    if (round % 3 != 0) bytes.replace(0, 8192, whole, 0, 8192);
    writeBytes(path_, bytes);
    const auto trace = Trace::open(path_);
    trace.has_value() ? ++opened : ++refused;
    if (!trace.has_value()) continue;
    for (std::uint32_t track = 1; track <= 6; ++track) {
      (void)(*trace)->events(TrackId{track});
      (void)(*trace)->counters(TrackId{track});
    }
    (void)(*trace)->dependencies();
    (void)(*trace)->query("SELECT * FROM event");
    (void)(*trace)->query("SELECT * FROM event_stats");
    (void)(*trace)->query("SELECT * FROM event_busy");
    (void)(*trace)->query("SELECT * FROM event WHERE correlation = 5 AND start_ns > 10");
  }
  EXPECT_GT(opened, 0);
  EXPECT_GT(refused, 0);
}

TEST_F(OpenTrace, DoesNotChangeTheFile) {
  const std::string before = readBytes(path_);
  const auto time = fs::last_write_time(path_);
  {
    const auto trace = mustOpen(path_);
    mustQuery(*trace, "CREATE TEMP TABLE t AS SELECT * FROM event; SELECT count(*) FROM t");
    (void)trace->query("DELETE FROM string");
  }
  EXPECT_EQ(readBytes(path_), before);
  EXPECT_EQ(fs::last_write_time(path_), time);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()), 1);
}

TEST_F(OpenTrace, ReadsATraceWhileItIsRecorded) {
  const std::string live = folder_ / "live.pitwall";
  const auto sink = mustCreate(live);
  const TrackId track = sink->track({});
  const Event event{.start_ns = 1, .dur_ns = 2};
  sink->events(track, {&event, 1});
  ASSERT_TRUE(sink->flush().has_value());
  {
    const auto trace = mustOpen(live);
    ASSERT_NE(trace, nullptr);
    EXPECT_FALSE(trace->isComplete());
    EXPECT_EQ(trace->events(track).value().size(), 1u);
    sink->events(track, {&event, 1});
    ASSERT_TRUE(sink->flush().has_value());
    EXPECT_EQ(trace->events(track).value().size(), 1u) << "a trace is read as of its opening";
    EXPECT_EQ(mustCount(*trace, "SELECT count(*) FROM event"), 1);
    EXPECT_EQ(mustOpen(live)->events(track).value().size(), 2u);
    ASSERT_TRUE(sink->finish().has_value()) << "also while it is being read";
  }
  const auto trace = mustOpen(live);
  EXPECT_TRUE(trace->isComplete());
  EXPECT_EQ(trace->events(track).value().size(), 2u);
}

// As after a kill while closing the file.
TEST_F(OpenTrace, RecoversFromAJournalInACopy) {
  const std::string before = readBytes(path_);
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &database), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(database,
                         "PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN; UPDATE event_chunk SET dur = "
                         "zeroblob(200000);"
                         "UPDATE event_chunk SET start = zeroblob(300000)",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  const std::string torn = folder_ / "torn.pitwall";
  fs::copy_file(path_, torn);
  fs::copy_file(path_ + "-journal", torn + "-journal");
  sqlite3_close(database);
  const std::string torn_before = readBytes(torn), journal_before = readBytes(torn + "-journal");
  ASSERT_NE(torn_before, before) << "the transaction reached the file, else this tests nothing";
  {
    const auto trace = mustOpen(torn);
    ASSERT_NE(trace, nullptr);
    EXPECT_EQ(trace->events(TrackId{1}).value().size(), 500u);
  }
  EXPECT_EQ(readBytes(torn), torn_before);
  EXPECT_EQ(readBytes(torn + "-journal"), journal_before);
}

}  // namespace
}  // namespace pitwall::test::open_trace_test
