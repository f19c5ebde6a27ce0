// Rows of other programs' databases read from their pages, compared with SQLite's results.
#include "db/sqlite/foreign.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "tests/db/sqlite/trace_files.h"

namespace pitwall::test::foreign_test {
namespace {

using store::ForeignDatabase;
using store::ForeignRow;

class ForeignTest : public testing::Test {
 protected:
  // A new database created by the statements.
  void make(const std::string& sql) {
    std::filesystem::remove(path_);
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &database), SQLITE_OK);
    char* message = nullptr;
    ASSERT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message;
    sqlite3_close(database);
  }

  std::unique_ptr<ForeignDatabase> mustOpenForeign() {
    auto database = ForeignDatabase::open(path_);
    EXPECT_TRUE(database.has_value()) << database.error().message;
    return database.has_value() ? std::move(*database) : nullptr;
  }

  // Every row as text, with nulls marked.
  std::vector<std::string> bySqlite(const std::string& sql) {
    std::vector<std::string> rows;
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open(path_.c_str(), &database), SQLITE_OK);
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr), SQLITE_OK);
    while (sqlite3_step(statement) == SQLITE_ROW) {
      std::string row;
      for (int i = 0; i < sqlite3_column_count(statement); ++i) {
        const bool null = sqlite3_column_type(statement, i) == SQLITE_NULL;
        const std::int64_t integer = sqlite3_column_int64(statement, i);
        const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, i));
        const std::string value(text == nullptr ? "" : text,
                                static_cast<std::size_t>(sqlite3_column_bytes(statement, i)));
        row += null ? "null|" : fmt::format("{} {}|", integer, value);
      }
      rows.push_back(std::move(row));
    }
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return rows;
  }

  std::vector<std::string> byForeign(const std::string& table, std::span<const std::string_view> columns) {
    std::vector<std::string> rows;
    const auto database = mustOpenForeign();
    const Status status = database->visit(table, columns, [&](const ForeignRow& row) -> Status {
      std::string text;
      for (std::size_t i = 0; i < columns.size(); ++i)
        text += row.isNull(i) ? "null|" : fmt::format("{} {}|", row.integer(i), row.text(i));
      rows.push_back(std::move(text));
      return {};
    });
    EXPECT_TRUE(status.has_value()) << status.error().message;
    return rows;
  }

  TempFolder folder_;
  const std::string path_ = folder_ / "foreign.sqlite";
};

// Numbers of every width the format has, at both signs, among nulls and text that leaves its page.
constexpr char kRows[] =
    "WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 3000)"
    " INSERT INTO t SELECT"
    " CASE WHEN i % 7 = 0 THEN NULL ELSE (i - 1500) * (1 << (i % 40)) END,"
    " CASE i % 9 WHEN 0 THEN 9223372036854775807 WHEN 1 THEN -9223372036854775807 - 1 WHEN 2 THEN 0"
    " WHEN 3 THEN 1 WHEN 4 THEN -8388608 WHEN 5 THEN 140737488355327 WHEN 6 THEN -140737488355328"
    " WHEN 7 THEN -129 ELSE 32767 END,"
    " i % 5, CASE WHEN i % 501 = 0 THEN hex(zeroblob(3000 + i)) WHEN i % 11 = 0 THEN NULL"
    " ELSE 'text ' || i END FROM n;";

TEST_F(ForeignTest, RowsAreWhatSqliteSaysAtEverySizeOfPages) {
  constexpr std::array<std::string_view, 5> kColumns = {"d", "a", "b", "missing", "a"};
  for (const int page : {512, 1024, 4096, 65536}) {
    make(fmt::format("PRAGMA page_size={}; CREATE TABLE t(a INTEGER, b INT, c INT, d TEXT);", page) + kRows);
    const auto rows = byForeign("t", kColumns);
    EXPECT_EQ(rows.size(), 3001u);
    EXPECT_EQ(rows, bySqlite("SELECT d, a, b, NULL, a FROM t ORDER BY rowid")) << page;
  }
}

TEST_F(ForeignTest, RealsAndNumbersInTextColumnsConvertAsInSqlite) {
  make(
      "CREATE TABLE t(a REAL, b, c TEXT);"
      "INSERT INTO t VALUES (1.5, 12, '34'), (2, -0.25, 'x'), (1e300, '  77 apples', 5), (-1e300, '', 2.5);");
  constexpr std::array<std::string_view, 3> kColumns = {"a", "b", "c"};
  const auto database = mustOpenForeign();
  std::vector<std::string> rows;
  const Status status = database->visit("t", kColumns, [&](const ForeignRow& row) -> Status {
    rows.push_back(fmt::format("{} {} {} {}", row.integer(0), row.real(0), row.integer(1), row.text(2)));
    return {};
  });
  EXPECT_TRUE(status.has_value());
  EXPECT_EQ(rows, (std::vector<std::string>{"1 1.5 12 34", "2 2 0 x", "9223372036854775807 1e+300 77 5",
                                            "-9223372036854775808 -1e+300 0 2.5"}));
}

// Columns whose value is not stored in the row are read by SQL.
TEST_F(ForeignTest, KeysLaterColumnsAndTablesWithoutRowIds) {
  make(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, a INT); INSERT INTO t VALUES (7, 8), (9, 10);"
      "ALTER TABLE t ADD COLUMN later INT DEFAULT 5; ALTER TABLE t ADD COLUMN bare TEXT;"
      "CREATE TABLE w(a INT PRIMARY KEY, b INT) WITHOUT ROWID; INSERT INTO w VALUES (3, 4);"
      "CREATE TABLE g(a INT, twice INT GENERATED ALWAYS AS (a * 2) VIRTUAL, b INT);"
      "INSERT INTO g(a, b) VALUES (1, 2);"
      "CREATE TABLE empty(a INT);");
  constexpr std::array<std::string_view, 4> kColumns = {"id", "a", "later", "bare"};
  EXPECT_EQ(byForeign("t", kColumns), bySqlite("SELECT id, a, later, bare FROM t"));
  constexpr std::array<std::string_view, 2> kBare = {"a", "bare"};
  EXPECT_EQ(byForeign("t", kBare), bySqlite("SELECT a, bare FROM t"));
  constexpr std::array<std::string_view, 2> kTwo = {"a", "b"};
  EXPECT_EQ(byForeign("w", kTwo), bySqlite("SELECT a, b FROM w"));
  EXPECT_EQ(byForeign("g", kTwo), bySqlite("SELECT a, b FROM g"));
  EXPECT_TRUE(byForeign("empty", kTwo).empty());
  EXPECT_TRUE(byForeign("not there", kTwo).empty());
  const auto database = mustOpenForeign();
  EXPECT_EQ(database->minimum("t", "a").value(), std::optional<std::int64_t>(8));
  EXPECT_EQ(database->minimum("empty", "a").value(), std::nullopt);
}

TEST_F(ForeignTest, TextInTwoByteUnitsIsConverted) {
  make("PRAGMA encoding='UTF-16le'; CREATE TABLE t(a TEXT); INSERT INTO t VALUES ('gr\xC3\xBC\xC3\x9F');");
  constexpr std::array<std::string_view, 1> kColumns = {"a"};
  EXPECT_EQ(byForeign("t", kColumns), bySqlite("SELECT a FROM t"));
}

// Any byte of the pages may be wrong: either the rows before the damage and an error that names the page, or
// all rows.
TEST_F(ForeignTest, DamageEndsWithAMessageThatNamesThePage) {
  make(std::string("PRAGMA page_size=1024; CREATE TABLE t(a INTEGER, b INT, c INT, d TEXT);") + kRows);
  const std::string whole = readBytes(path_);
  constexpr std::array<std::string_view, 2> kColumns = {"a", "d"};
  int damaged = 0, named = 0;
  for (std::size_t at = 1024; at < whole.size(); at += 2917) {
    std::string bytes = whole;
    for (std::size_t i = at; i < std::min(bytes.size(), at + 4); ++i) bytes[i] = static_cast<char>(0xff);
    std::ofstream(path_, std::ios::binary) << bytes;
    const auto database = mustOpenForeign();
    std::size_t rows = 0;
    const Status status = database->visit("t", kColumns, [&](const ForeignRow& row) -> Status {
      rows += row.text(1).size() <= whole.size() ? 1 : 0;
      return {};
    });
    EXPECT_LE(rows, 3001u + 1024u);
    if (status.has_value()) continue;
    ++damaged;
    EXPECT_EQ(status.error().code, ErrorCode::corruptTrace);
    EXPECT_NE(status.error().message.find("export it again"), std::string::npos) << status.error().message;
    // If the table's first page is damaged, SQLite decides.
    named += status.error().message.find(": page ") != std::string::npos ? 1 : 0;
  }
  EXPECT_GE(named, damaged - 2);
  EXPECT_GT(named, 0);
}

TEST_F(ForeignTest, ChangesThatLieBesideTheFileAreNotLeftOutInSilence) {
  make("CREATE TABLE t(a)");
  std::ofstream(path_ + "-wal") << "frames";
  const auto database = ForeignDatabase::open(path_);
  ASSERT_FALSE(database.has_value());
  EXPECT_NE(database.error().message.find(path_ + "-wal"), std::string::npos) << database.error().message;
  EXPECT_NE(database.error().message.find("wal_checkpoint"), std::string::npos);
  std::ofstream(path_ + "-wal", std::ios::trunc);
  EXPECT_NE(mustOpenForeign(), nullptr) << "an empty one holds nothing";
}

}  // namespace
}  // namespace pitwall::test::foreign_test
