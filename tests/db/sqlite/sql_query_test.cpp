// Statements that a trace takes: read-only, with temporary tables and parameters; their errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/db/sqlite/sql_fixture.h"

namespace pitwall::test::sql_query_test {
namespace {

using ::testing::HasSubstr;

TEST_F(Sql, QueryOnlyReads) {
  for (const char* sql : {"DELETE FROM string",
                          "UPDATE meta SET value = 'x'",
                          "INSERT INTO string(text) VALUES ('x')",
                          "DROP TABLE string",
                          "CREATE TABLE mine(a)",
                          "ALTER TABLE string ADD COLUMN x",
                          "VACUUM",
                          "VACUUM INTO 'copy.db'",
                          "ATTACH 'other.db' AS other",
                          "PRAGMA user_version = 9",
                          "PRAGMA journal_mode = DELETE",
                          "PRAGMA writable_schema = ON",
                          "BEGIN",
                          "SAVEPOINT s",
                          "CREATE VIRTUAL TABLE temp.v USING fts5(a)",
                          "CREATE TRIGGER temp.t AFTER INSERT ON string BEGIN SELECT 1; END",
                          "ANALYZE",
                          "REINDEX",
                          "SELECT load_extension('x')",
                          "DELETE FROM event",
                          "INSERT INTO event(id) VALUES (1)"}) {
    const auto rows = trace_->query(sql);
    ASSERT_FALSE(rows.has_value()) << sql;
    EXPECT_EQ(rows.error().code, ErrorCode::invalidInput) << sql << ": " << rows.error().message;
  }
  EXPECT_EQ(mustCount(*trace_, "SELECT count(*) FROM string"),
            static_cast<std::int64_t>(content_.strings.size()));
}

TEST_F(Sql, TempTablesAreAllowed) {
  mustQuery(*trace_,
            "CREATE TEMP TABLE iteration(number INTEGER, start_ns INTEGER, note TEXT); CREATE INDEX temp.i "
            "ON iteration(number)");
  const std::vector<SqlValue> rows[] = {{std::int64_t{1}, 2.5, "a"},
                                        {std::int64_t{2}, std::monostate{}, "it's"}};
  const Status inserted = trace_->insertTemp("iteration", rows);
  ASSERT_TRUE(inserted.has_value()) << inserted.error().message;
  mustQuery(
      *trace_,
      "INSERT INTO iteration VALUES (3, 4, 'c'); UPDATE iteration SET note = upper(note) WHERE number = 1");
  EXPECT_EQ(dump("SELECT * FROM iteration ORDER BY number"), "1 2.500000 'A' \n2 NULL 'it's' \n3 4 'c' \n");
  mustQuery(*trace_,
            "CREATE TEMP VIEW late AS SELECT * FROM iteration WHERE number > 1; DELETE FROM iteration WHERE "
            "number = 3");
  EXPECT_EQ(mustCount(*trace_, "SELECT count(*) FROM late"), 1);
  mustQuery(*trace_, "DROP VIEW late; DROP TABLE iteration");
  EXPECT_FALSE(trace_->insertTemp("iteration", rows).has_value());
}

TEST_F(Sql, InsertTempIsAllOrNothing) {
  mustQuery(*trace_, "CREATE TEMP TABLE t(a INTEGER PRIMARY KEY, b)");
  const std::vector<SqlValue> twice[] = {{std::int64_t{1}, "x"}, {std::int64_t{1}, "y"}};
  EXPECT_EQ(trace_->insertTemp("t", twice).error().code, ErrorCode::invalidInput);
  const std::vector<SqlValue> uneven[] = {{std::int64_t{1}, "x"}, {std::int64_t{2}}};
  EXPECT_EQ(trace_->insertTemp("t", uneven).error().code, ErrorCode::invalidInput);
  const std::vector<SqlValue> wide[] = {{std::int64_t{1}, "x", "y"}};
  EXPECT_EQ(trace_->insertTemp("t", wide).error().code, ErrorCode::invalidInput);
  EXPECT_EQ(mustCount(*trace_, "SELECT count(*) FROM t"), 0);
  EXPECT_EQ(trace_->insertTemp("string", twice).error().code, ErrorCode::invalidInput) << "not a temp table";
}

TEST_F(Sql, TakesNamedParameters) {
  const SqlParameter parameters[] = {{":track", std::int64_t{2}}, {":kind", "wait"}, {":unused", 1.5}};
  const SqlRows rows =
      mustQuery(*trace_, "SELECT count(*) FROM event WHERE track = :track AND kind = :kind", parameters);
  EXPECT_EQ(std::get<std::int64_t>(rows.rows[0][0]),
            std::count_if(content_.events[1].begin(), content_.events[1].end(),
                          [](const Event& e) { return e.kind == EventKind::wait; }));
  for (const char* sql : {"SELECT :threshold", "SELECT ?"}) {
    const auto missing = trace_->query(sql, parameters);
    ASSERT_FALSE(missing.has_value());
    EXPECT_EQ(missing.error().code, ErrorCode::invalidInput);
  }
}

// The last statement stays prepared; nothing of its parameters or of the tables' earlier state may remain.
TEST_F(Sql, TheSameStatementAnswersAnewEachTime) {
  const auto value = [&](const std::vector<SqlParameter>& parameters) {
    const auto rows = trace_->query("SELECT :value", parameters);
    return rows.has_value() ? show(rows->rows.at(0).at(0)) : rows.error().message;
  };
  EXPECT_EQ(value({{":value", std::int64_t{7}}}), "7");
  EXPECT_EQ(value({{":value", std::string("text")}}), "'text'");
  EXPECT_EQ(value({{":value", {}}}), "NULL");
  EXPECT_THAT(value({}), HasSubstr("no value was given for parameter :value"));
  EXPECT_EQ(value({{":value", 0.5}}), "0.500000");

  const std::string count = "SELECT count(*) FROM temp.numbers";
  for (int rows = 1; rows <= 2; ++rows) {
    mustQuery(*trace_, "DROP TABLE IF EXISTS temp.numbers");
    mustQuery(*trace_, rows == 1 ? "CREATE TEMP TABLE numbers (n)" : "CREATE TEMP TABLE numbers (n, m)");
    ASSERT_TRUE(trace_
                    ->insertTemp("numbers", std::vector<std::vector<SqlValue>>(
                                                static_cast<std::size_t>(rows),
                                                std::vector<SqlValue>(static_cast<std::size_t>(rows))))
                    .has_value());
    EXPECT_EQ(dump(count), std::to_string(rows) + " \n");
    EXPECT_EQ(dump(count), std::to_string(rows) + " \n");
  }
  mustQuery(*trace_, count);
  EXPECT_TRUE(trace_->query("DROP TABLE temp.numbers").has_value()) << "the kept statement holds no lock";
  EXPECT_FALSE(trace_->query(count).has_value());
}

TEST_F(Sql, ReportsSqlErrorsWithTheStatement) {
  for (const char* sql : {"SELEC 1", "SELECT nothing FROM event", "SELECT * FROM nowhere", "SELECT 1; SELECT",
                          "", " -- only a comment"}) {
    const auto rows = trace_->query(sql);
    ASSERT_FALSE(rows.has_value()) << sql;
    EXPECT_EQ(rows.error().code, ErrorCode::invalidInput);
  }
  EXPECT_THAT(trace_->query("SELECT 1; SELECT nothing FROM event").error().message,
              HasSubstr("SELECT nothing FROM event"));
}

TEST_F(Sql, ShowsBlobsAsText) {
  EXPECT_EQ(dump("SELECT x'00ff10', NULL, 'a', 1.5, 3"), "'X'00FF10'' NULL 'a' 1.500000 3 \n");
}

}  // namespace
}  // namespace pitwall::test::sql_query_test
