// Sampled stacks in Chrome JSON, read by SQLite's JSON functions as flame views read them: each sample's stack from `stackFrames`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <vector>

#include "db/export.h"
#include "db/import.h"
#include "db/store.h"
#include "tests/support/read_all.h"
#include "tests/support/temp_folder.h"

namespace pitwall::test::chrome_stacks_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Texts that a query gives, with the file as its parameter ?1.
std::vector<std::string> ask(const std::string& json, const std::string& sql) {
  std::vector<std::string> texts;
  sqlite3* database = nullptr;
  EXPECT_EQ(sqlite3_open(":memory:", &database), SQLITE_OK);
  sqlite3_stmt* statement = nullptr;
  EXPECT_EQ(sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database);
  sqlite3_bind_text(statement, 1, json.data(), static_cast<int>(json.size()), SQLITE_STATIC);
  int step = SQLITE_ROW;
  while ((step = sqlite3_step(statement)) == SQLITE_ROW)
    texts.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(statement, 0)));
  EXPECT_EQ(step, SQLITE_DONE) << sqlite3_errmsg(database);
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return texts;
}

// "thread: outer;inner weight", one a sample.
constexpr char kStacks[] = R"(
WITH RECURSIVE sample AS (SELECT key AS number, value AS s FROM json_each(?1, '$.samples')),
thread AS (SELECT json_extract(value, '$.pid') AS pid, json_extract(value, '$.tid') AS tid,
    json_extract(value, '$.args.name') AS name FROM json_each(?1, '$.traceEvents')
  WHERE json_extract(value, '$.name') = 'thread_name'),
walk(number, key, text) AS (
  SELECT number, json_extract(s, '$.sf'), '' FROM sample
  UNION ALL SELECT number, json_extract(?1, '$.stackFrames."' || key || '".parent'),
    json_extract(?1, '$.stackFrames."' || key || '".name') || CASE text WHEN '' THEN '' ELSE ';' || text END
  FROM walk WHERE key IS NOT NULL)
SELECT thread.name || ': ' || text || ' ' || json_extract(s, '$.weight') FROM walk JOIN sample USING (number)
  JOIN thread ON thread.pid = json_extract(s, '$.pid') AND thread.tid = json_extract(s, '$.tid')
WHERE key IS NULL ORDER BY thread.name, json_extract(s, '$.ts'))";

class ChromeStacks : public testing::Test {
 protected:
  // Two threads of a process: "main" with an event, and "loader" with samples only.
  void SetUp() override {
    auto sink = createTrace(folder_ / "run.pitwall").value();
    const ProcessId process = sink->process({7, "python3", "", 0});
    const ThreadId main = sink->thread({process, 7, "main"});
    const ThreadId loader = sink->thread({process, 8, "loader"});
    const TrackId events = sink->track({TrackKind::thread, process, main, {}, "main", ""});
    const TrackId of_main = sink->track({TrackKind::counter, process, main, {}, "stack", kStackUnit});
    const TrackId of_loader = sink->track({TrackKind::counter, process, loader, {}, "stack", kStackUnit});
    const FrameId frames[] = {sink->frame({"train", "/x/train.py", 3, "python"}),
                              sink->frame({"load", "/x/data.py", 5, "python"}),
                              sink->frame({"memcpy", "/lib/libc.so.6", 0, "native"})};
    const StackId train = sink->stack({{}, frames[0]});
    const StackId load = sink->stack({train, frames[1]});
    const StackId copy = sink->stack({load, frames[2]});
    Event event;
    event.name = sink->string("step");
    event.start_ns = 1'000'000;
    event.dur_ns = 30'000'000;
    sink->events(events, {&event, 1});
    const auto value = [](StackId stack) { return static_cast<double>(stack.value); };
    const CounterSample first[] = {{10'000'000, value(train)}, {20'000'000, value(copy)}, {30'500'000, 0}};
    const CounterSample second[] = {{10'000'000, value(load)}, {20'000'000, value(load)}};
    sink->counters(of_main, first);
    sink->counters(of_loader, second);
    ASSERT_TRUE(sink->finish().has_value());
  }
  std::string exported(const ExportOptions& options = {}) {
    auto trace = Trace::open(folder_ / "run.pitwall").value();
    const auto summary = exportTrace(*trace, folder_ / "run.json", options);
    EXPECT_TRUE(summary.has_value()) << summary.error().message;
    return readAll(folder_ / "run.json");
  }

  const TempFolder folder_;
};

TEST_F(ChromeStacks, ASampleHasItsThreadItsStackAndItsTime) {
  EXPECT_THAT(ask(exported(), kStacks),
              ElementsAre("loader: train (train.py);load (data.py) 10000",
                          "loader: train (train.py);load (data.py) 0", "main: train (train.py) 10000",
                          "main: train (train.py);load (data.py);memcpy 10500"));
  EXPECT_THAT(
      ask(exported(),
          "SELECT group_concat(json_extract(value, '$.category')) FROM json_each(?1, '$.stackFrames')"),
      ElementsAre("python,python,native"));
}

TEST_F(ChromeStacks, OnlySamplesOfTheRangeAreWritten) {
  ExportOptions options;
  options.range = {15'000'000, 25'000'000};
  EXPECT_THAT(ask(exported(options),
                  "SELECT json_extract(value, '$.sf') FROM json_each(?1, '$.samples') "
                  "WHERE json_extract(value, '$.ts') > 19000"),
              ElementsAre("3", "2"));
}

TEST_F(ChromeStacks, ImportReadsTheRecordsAndCountsNothingAsLost) {
  exported();
  const std::vector<std::string> inputs{folder_ / "run.json"};
  const auto summary = importToFile(inputs, folder_ / "back.pitwall");
  ASSERT_TRUE(summary.has_value()) << summary.error().message;
  EXPECT_TRUE(summary->not_understood.empty()) << toText(*summary);
  EXPECT_EQ(Trace::open(folder_ / "back.pitwall").value()->stacks().size(), 3U);
}

TEST(ChromeStacksAbsent, ATraceWithoutStacksHasNeitherMember) {
  const TempFolder folder;
  auto sink = createTrace(folder / "run.pitwall").value();
  ASSERT_TRUE(sink->finish().has_value());
  sink.reset();
  auto trace = Trace::open(folder / "run.pitwall").value();
  ASSERT_TRUE(exportTrace(*trace, folder / "run.json", {}).has_value());
  const std::string json = readAll(folder / "run.json");
  EXPECT_THAT(json, Not(HasSubstr("stackFrames")));
  EXPECT_THAT(json, Not(HasSubstr("samples")));
}

}  // namespace
}  // namespace pitwall::test::chrome_stacks_test
