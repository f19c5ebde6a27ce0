// createTrace: which files it replaces, which it refuses, and the file of an unfinished sink.
#include "db/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/db/sqlite/trace_files.h"

namespace pitwall::test::store_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

Error mustFail(const std::string& path, StoreOptions options = {}) {
  const auto sink = createTrace(path, options);
  EXPECT_FALSE(sink.has_value()) << path;
  return sink.has_value() ? Error{ErrorCode::internal, ""} : sink.error();
}

TEST(CreateTrace, NamesAMissingFolder) {
  const TempFolder folder;
  const std::string path = folder / "no/such/folder/a.pitwall";
  const Error error = mustFail(path);
  EXPECT_EQ(error.code, ErrorCode::io);
  EXPECT_THAT(error.message, HasSubstr(path));
  EXPECT_THAT(error.message, HasSubstr("create its folder"));
}

TEST(CreateTrace, RefusesAPathBelowAFile) {
  const TempFolder folder;
  writeBytes(folder / "file", "text");
  const Error error = mustFail(folder / "file/a.pitwall");
  EXPECT_EQ(error.code, ErrorCode::io);
  EXPECT_THAT(error.message, HasSubstr("Not a directory"));
}

TEST(CreateTrace, RefusesAnEmptyPathAndBadOptions) {
  EXPECT_EQ(mustFail("").code, ErrorCode::invalidInput);
  const TempFolder folder;
  for (const int chunk_events : {0, -5, 1 << 21}) {
    const Error error = mustFail(folder / "a.pitwall", {.chunk_events = chunk_events});
    EXPECT_EQ(error.code, ErrorCode::invalidInput);
    EXPECT_THAT(error.message, HasSubstr("1..1048576"));
  }
  EXPECT_FALSE(fs::exists(folder / "a.pitwall"));
}

TEST(CreateTrace, NeverReplacesWhatIsNotATrace) {
  const TempFolder folder;
  const std::string text = folder / "notes.txt";
  writeBytes(text, std::string(5000, 'x'));
  EXPECT_EQ(mustFail(text).code, ErrorCode::invalidInput);
  EXPECT_EQ(readBytes(text), std::string(5000, 'x'));

  const std::string other = folder / "other.db";
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(other.c_str(), &database), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(database, "CREATE TABLE t(a)", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
  const std::string before = readBytes(other);
  const Error error = mustFail(other);
  EXPECT_THAT(error.message, HasSubstr("database of another program"));
  EXPECT_THAT(error.message, HasSubstr(other));
  EXPECT_EQ(readBytes(other), before);

  fs::create_directory(folder / "sub");
  EXPECT_THAT(mustFail(folder / "sub").message, HasSubstr("it is a folder"));
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(mustFail(folder / "pipe").message, HasSubstr("pipe"));
  for (const auto& entry : fs::directory_iterator(folder.path()))
    EXPECT_THAT(entry.path().string(), ::testing::Not(HasSubstr("draft")));
}

TEST(CreateTrace, ReplacesATraceWithItsSideFiles) {
  const TempFolder folder;
  const std::string path = folder / "a.pitwall";
  writeTrace(path, makeRandomTrace({}));
  for (const char* side : {"-wal", "-shm", "-journal"}) writeBytes(path + side, "stale");
  const auto sink = mustCreate(path);
  ASSERT_NE(sink, nullptr);
  sink->string("only");
  ASSERT_TRUE(sink->finish().has_value());
  EXPECT_FALSE(fs::exists(path + "-wal"));
  EXPECT_FALSE(fs::exists(path + "-journal"));
  const auto trace = mustOpen(path);
  EXPECT_EQ(mustCount(*trace, "SELECT count(*) FROM string"), 1);
  EXPECT_EQ(mustCount(*trace, "SELECT count(*) FROM event"), 0);
}

TEST(CreateTrace, LeavesATraceAloneWhenAsked) {
  const TempFolder folder;
  const std::string path = folder / "a.pitwall";
  writeTrace(path, makeRandomTrace({}));
  const std::string before = readBytes(path);
  EXPECT_EQ(mustFail(path, {.overwrite = false}).code, ErrorCode::invalidInput);
  EXPECT_EQ(readBytes(path), before);
}

TEST(CreateTrace, TakesAnEmptyFileAndALink) {
  const TempFolder folder;
  writeBytes(folder / "empty.pitwall", "");
  EXPECT_TRUE(mustCreate(folder / "empty.pitwall")->finish().has_value());
  fs::create_symlink(folder / "empty.pitwall", folder / "link.pitwall");
  writeTrace(folder / "link.pitwall", makeRandomTrace({}));
  EXPECT_TRUE(fs::is_symlink(folder / "link.pitwall"));
  EXPECT_GT(mustCount(*mustOpen(folder / "empty.pitwall"), "SELECT count(*) FROM event"), 0);
}

TEST(CreateTrace, TakesPathsThatLookLikeUris) {
  const TempFolder folder;
  for (const char* name : {"a?mode=memory.pitwall", "b#c.pitwall", "100%25.pitwall", "ä ö.pitwall"}) {
    writeTrace(folder / name, makeRandomTrace({}));
    EXPECT_TRUE(fs::exists(folder / name)) << name;
    EXPECT_TRUE(mustOpen(folder / name)->isComplete()) << name;
  }
}

TEST(CreateTrace, RefusesATraceThatIsBeingRecorded) {
  const TempFolder folder;
  const std::string path = folder / "a.pitwall";
  const auto first = mustCreate(path);
  first->string("kept");
  ASSERT_TRUE(first->flush().has_value());
  const Error error = mustFail(path);
  EXPECT_EQ(error.code, ErrorCode::io);
  EXPECT_THAT(error.message, HasSubstr("being recorded"));
  ASSERT_TRUE(first->finish().has_value());
  EXPECT_EQ(mustCount(*mustOpen(path), "SELECT count(*) FROM string"), 1);
}

TEST(Sink, DestroyedWithoutFinishLeavesAnIncompleteTrace) {
  const TempFolder folder;
  const std::string path = folder / "a.pitwall";
  const RandomTrace content = makeRandomTrace({});
  {
    const auto sink = mustCreate(path);
    feed(*sink, content);
  }
  const auto trace = mustOpen(path);
  ASSERT_NE(trace, nullptr);
  EXPECT_FALSE(trace->isComplete());
  EXPECT_EQ(trace->events(TrackId{1}).value().size(), content.events[0].size());
  EXPECT_EQ(trace->dependencies().value().size(), content.dependencies.size());
}

TEST(Sink, IgnoresCallsAfterFinish) {
  const TempFolder folder;
  const auto sink = mustCreate(folder / "a.pitwall");
  const TrackId track = sink->track({});
  ASSERT_TRUE(sink->finish().has_value());
  const Event event{};
  sink->events(track, {&event, 1});
  sink->meta("host.name", "late");
  EXPECT_TRUE(sink->flush().has_value());
  EXPECT_TRUE(sink->finish().has_value());
  EXPECT_TRUE(mustOpen(folder / "a.pitwall")->events(track).value().empty());
}

TEST(Sink, KeepsItsFirstFailure) {
  const TempFolder folder;
  const auto sink = mustCreate(folder / "a.pitwall");
  const TrackId track = sink->track({});
  const Event event{};
  sink->events(track, {&event, 1});
  ASSERT_TRUE(sink->flush().has_value());
  sink->events(TrackId{9}, {&event, 1});  // a track that was not created
  const Status failed = sink->flush();
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code, ErrorCode::internal);
  EXPECT_THAT(failed.error().message, HasSubstr("track 9"));
  const Event made_up{.name = StringId{77}};
  sink->events(track, {&made_up, 1});
  EXPECT_EQ(sink->finish().error().message, failed.error().message);
  const auto trace = mustOpen(folder / "a.pitwall");
  EXPECT_FALSE(trace->isComplete());
  EXPECT_EQ(trace->events(track).value().size(), 1u);
}

TEST(Sink, RefusesMadeUpNames) {
  const TempFolder folder;
  const auto sink = mustCreate(folder / "a.pitwall");
  const TrackId track = sink->track({});
  const Event event{.name = StringId{77}};
  sink->events(track, {&event, 1});
  const Status failed = sink->flush();
  ASSERT_FALSE(failed.has_value());
  EXPECT_THAT(failed.error().message, HasSubstr("string 77"));
}

}  // namespace
}  // namespace pitwall::test::store_test
