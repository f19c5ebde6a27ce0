// The guarantees of exported files for readers without Pitwall.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "db/export.h"
#include "db/export/chrome_rows.h"
#include "db/export/json_text.h"
#include "db/store.h"
#include "tests/support/random_trace.h"
#include "tests/support/temp_folder.h"

namespace pitwall::test::formats_test {
namespace {

using testing::HasSubstr;

ExportOptions as(ExportFormat format) {
  ExportOptions options;
  options.format = format;
  return options;
}

std::unique_ptr<Trace> randomTrace(const TempFolder& folder) {
  auto sink = createTrace(folder / "random.pitwall", {.chunk_events = 64});
  EXPECT_TRUE(sink.has_value());
  feed(**sink, makeRandomTrace({.seed = 4}));
  EXPECT_TRUE((*sink)->finish().has_value());
  sink->reset();
  auto trace = Trace::open(folder / "random.pitwall");
  EXPECT_TRUE(trace.has_value());
  return std::move(*trace);
}

std::string contentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t filesIn(const TempFolder& folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) ++count;
  return count;
}

// The events of the file, one per line; what follows them is read by SQLite's JSON functions.
std::vector<std::string> eventsOf(const std::string& path) {
  std::vector<std::string> events;
  std::istringstream lines(contentOf(path));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, R"({"displayTimeUnit":"ns",)");
  std::getline(lines, line);
  EXPECT_EQ(line, R"("traceEvents":[)");
  bool closed = false;
  while (!closed && std::getline(lines, line)) {
    closed = line == "]}" || line == "],";
    if (closed) continue;
    if (line.back() == ',') line.pop_back();
    events.push_back(line);
  }
  EXPECT_TRUE(closed);
  return events;
}

std::string member(const std::string& event, const std::string& key) {
  const auto at = event.find("\"" + key + "\":");
  if (at == std::string::npos) return {};
  const auto from = at + key.size() + 3;
  return event.substr(from, event.find_first_of(",}", from) - from);
}

TEST(ExportChrome, EveryEventIsStrictJsonWithSmallNumbers) {
  const TempFolder folder;
  auto trace = randomTrace(folder);
  const auto summary = exportTrace(*trace, folder / "out.json", {});
  ASSERT_TRUE(summary.has_value()) << summary.error().message;
  std::map<std::string, std::int64_t> phases;
  for (const std::string& event : eventsOf(folder / "out.json")) {
    ASSERT_TRUE(exporting::isJsonObject(event)) << event;
    ++phases[member(event, "ph")];
    for (const char* key : {"pid", "tid", "id", "correlation", "source", "target"}) {
      const std::string value = member(event, key);
      if (!value.empty() && value[0] != '"') {
        EXPECT_LT(std::stoll(value), std::int64_t{1} << 53) << event;
      }
    }
  }
  const auto events = trace->query("SELECT count(*) FROM event");
  EXPECT_EQ(phases["\"X\""] + phases["\"i\""] - 10,
            std::get<std::int64_t>(events->rows[0][0]));  // 10 iterations
  EXPECT_EQ(phases["\"s\""], phases["\"f\""]);
  EXPECT_GT(phases["\"f\""], 100);
  EXPECT_EQ(phases["\"C\""], 300);
}

// Viewers draw (and keep) only ranges that nest within their row.
TEST(ExportChrome, RangesOfARowNest) {
  const TempFolder folder;
  auto trace = randomTrace(folder);
  ASSERT_TRUE(exportTrace(*trace, folder / "out.json", {}).has_value());
  std::map<std::string, std::vector<double>> open;
  std::map<std::string, double> latest;
  for (const std::string& event : eventsOf(folder / "out.json")) {
    if (member(event, "ph") != "\"X\"") continue;
    const std::string row = member(event, "pid") + " " + member(event, "tid");
    const double start = std::stod(member(event, "ts"));
    const double end = start + std::stod(member(event, "dur"));
    auto& stack = open[row];
    while (!stack.empty() && stack.back() <= start + 1e-6) stack.pop_back();
    EXPECT_GE(start, latest[row]);
    latest[row] = start;
    EXPECT_TRUE(stack.empty() || stack.back() + 1e-6 >= end) << event;
    if (end > start) stack.push_back(end);
  }
}

TEST(ExportChrome, OverlappingRangesGetRowsOfTheirOwn) {
  exporting::Nesting nesting;
  EXPECT_EQ(nesting.place(0, 10), 0U);
  EXPECT_EQ(nesting.place(2, 8), 0U);   // within
  EXPECT_EQ(nesting.place(5, 12), 1U);  // over the end of both
  EXPECT_EQ(nesting.place(9, 10), 0U);
  EXPECT_EQ(nesting.place(10, 10), 0U);
  EXPECT_EQ(nesting.place(11, 13), 0U);  // the first row is free again
  EXPECT_EQ(nesting.place(12, 14), 1U);
}

TEST(ExportCsv, ATableIsWhatSqlSays) {
  const TempFolder folder;
  auto trace = randomTrace(folder);
  ExportOptions options = as(ExportFormat::csv);
  options.table = "operator";
  const auto summary = exportTrace(*trace, folder / "out.csv", options);
  ASSERT_TRUE(summary.has_value()) << summary.error().message;
  EXPECT_EQ(summary->rows, 30);
  const std::string csv = contentOf(folder / "out.csv");
  EXPECT_THAT(csv, testing::StartsWith("id,name,layer,shapes,"));
  EXPECT_THAT(csv, HasSubstr(",2x3->4,float32,null,"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 31);
  options.table = "event";
  const auto events = exportTrace(*trace, folder / "events.csv", options);
  ASSERT_TRUE(events.has_value()) << events.error().message;
  EXPECT_THAT(contentOf(folder / "events.csv"), HasSubstr("\"Uml\xC3\xA4ute, 'quotes' and \"\"more\"\"\""));
  for (const char* table : {"", "no such", "event_chunk", "sqlite_schema"}) {
    options.table = table;
    const auto refused = exportTrace(*trace, folder / "no.csv", options);
    ASSERT_FALSE(refused.has_value()) << table;
    EXPECT_THAT(refused.error().message, HasSubstr("process, thread, device, track,")) << table;
  }
}

TEST(ExportRows, PlainSqliteReadsAll) {
  const TempFolder folder;
  auto trace = randomTrace(folder);
  ASSERT_TRUE(exportTrace(*trace, folder / "out.sqlite", as(ExportFormat::rows)).has_value());
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open_v2((folder / "out.sqlite").c_str(), &database, SQLITE_OPEN_READONLY, nullptr),
            SQLITE_OK);
  for (const std::string sql :
       {"SELECT count(*) || ' ' || sum(dur_ns) || ' ' || min(name) || ' ' || count(DISTINCT operator) FROM "
        "event",
        "SELECT count(*) || ' ' || sum(source + target) FROM dependency",
        "SELECT count(*) || ' ' || max(value) || ' ' || min(time_ns) FROM counter",
        "SELECT group_concat(name || value) FROM setting", "SELECT count(*) FROM track"}) {
    const auto expected = trace->query("SELECT cast((" + sql + ") AS TEXT)");
    ASSERT_TRUE(expected.has_value()) << expected.error().message;
    sqlite3_stmt* statement = nullptr;
    ASSERT_EQ(sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    ASSERT_EQ(sqlite3_step(statement), SQLITE_ROW);
    EXPECT_EQ(reinterpret_cast<const char*>(sqlite3_column_text(statement, 0)),
              std::get<std::string>(expected->rows[0][0]))
        << sql;
    sqlite3_finalize(statement);
  }
  // DuckDB reads a table by its rowids.
  const auto tables = trace->query(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '%chunk' AND name <> "
      "'event_summary' "
      "AND sql NOT LIKE '%VIRTUAL%'");
  ASSERT_TRUE(tables.has_value()) << tables.error().message;
  ASSERT_GT(tables->rows.size(), 10U);
  for (const auto& table : tables->rows) {
    const std::string sql = "SELECT rowid FROM " + std::get<std::string>(table[0]);
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
  }
  sqlite3_close(database);
}

TEST(Export, IdsOfStacksAreNoCounterOfMxnet) {
  const TempFolder folder;
  auto trace = randomTrace(folder);
  const auto exported = exportTrace(*trace, folder / "profile.json", as(ExportFormat::mxnet));
  ASSERT_TRUE(exported.has_value()) << exported.error().message;
  const std::string text = contentOf(folder / "profile.json");
  EXPECT_THAT(text, HasSubstr("\"name\": \"queue\""));
  EXPECT_THAT(text, testing::Not(HasSubstr("\"name\": \"stack\"")));
  EXPECT_THAT(exported->notes, testing::Contains(HasSubstr("sampled stacks")));
}

TEST(Export, AnInterruptLeavesNothing) {
  const TempFolder folder;
  auto trace = randomTrace(folder);
  const std::atomic<bool> cancel = true;
  for (const ExportFormat format : {ExportFormat::chrome, ExportFormat::mxnet, ExportFormat::pitwall}) {
    ExportOptions options = as(format);
    options.cancel = &cancel;
    const auto stopped = exportTrace(*trace, folder / "out", options);
    ASSERT_FALSE(stopped.has_value());
    EXPECT_EQ(stopped.error().code, ErrorCode::cancelled);
    EXPECT_EQ(filesIn(folder), 1U);
  }
}

TEST(Export, AFullDiskIsAnErrorThatSaysWhatToDo) {
  const TempFolder folder;
  auto trace = randomTrace(folder);
  ExportOptions options;
  for (const ExportFormat format : {ExportFormat::chrome, ExportFormat::mxnet, ExportFormat::csv}) {
    options.format = format;
    options.table = format == ExportFormat::csv ? "event" : "";
    const int before = ::dup(STDOUT_FILENO), device = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    ::dup2(device, STDOUT_FILENO);
    const auto full = exportTrace(*trace, "-", options);
    ::dup2(before, STDOUT_FILENO);
    ::close(before);
    ::close(device);
    ASSERT_FALSE(full.has_value());
    EXPECT_EQ(full.error().code, ErrorCode::io);
    EXPECT_THAT(full.error().message, HasSubstr("free space"));
  }
}

TEST(Export, WhatMustNotBeReplacedIsNot) {
  const TempFolder folder;
  auto trace = randomTrace(folder);
  const std::string before = contentOf(folder / "random.pitwall");
  for (const ExportFormat format : {ExportFormat::chrome, ExportFormat::pitwall, ExportFormat::rows}) {
    const auto onto_itself = exportTrace(*trace, folder / "random.pitwall", as(format));
    ASSERT_FALSE(onto_itself.has_value());
    EXPECT_EQ(onto_itself.error().code, ErrorCode::invalidInput);
  }
  EXPECT_EQ(contentOf(folder / "random.pitwall"), before);
  const auto into_folder = exportTrace(*trace, folder.path().string(), {});
  ASSERT_FALSE(into_folder.has_value());
  EXPECT_THAT(into_folder.error().message, HasSubstr("it is a folder"));
  const auto nowhere = exportTrace(*trace, folder / "no/such/folder/out.json", {});
  ASSERT_FALSE(nowhere.has_value());
  EXPECT_THAT(nowhere.error().message, HasSubstr("create its folder"));
  EXPECT_EQ(filesIn(folder), 1U);
}

class Counter final : public SqlVisitor {
 public:
  void columns(std::span<const std::string> names) override { statements += names.size() == 1; }
  bool row(std::span<const SqlValue>) override { return ++rows < 5; }
  int statements = 0;
  int rows = 0;
};

TEST(Visit, SeesTheRowsOfEveryStatementUntilItHasEnough) {
  const TempFolder folder;
  auto trace = randomTrace(folder);
  Counter counter;
  const Status status = trace->visit("SELECT 1 UNION ALL SELECT 2; SELECT id FROM event", {}, counter);
  EXPECT_TRUE(status.has_value());
  EXPECT_EQ(counter.statements, 2);
  EXPECT_EQ(counter.rows, 5);
  EXPECT_FALSE(trace->visit("DELETE FROM meta", {}, counter).has_value());
}

}  // namespace
}  // namespace pitwall::test::formats_test
