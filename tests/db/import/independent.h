// An independent reader of fixtures: SQLite's own functions for JSON, and its tables.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdint>
#include <string>

#include "tests/support/read_all.h"

namespace pitwall::test {

inline std::string seedFile(const std::string& name) { return std::string(PITWALL_SEEDS) + "/" + name; }

// The one number that a query gives, with `text` as its parameter ?1.
inline std::int64_t numberBySql(const std::string& sql, const std::string& text = {},
                                const std::string& database_path = ":memory:") {
  sqlite3* database = nullptr;
  EXPECT_EQ(
      sqlite3_open_v2(database_path.c_str(), &database,
                      database_path == ":memory:" ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY, nullptr),
      SQLITE_OK);
  sqlite3_stmt* statement = nullptr;
  EXPECT_EQ(sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database);
  if (sqlite3_bind_parameter_count(statement) > 0)
    sqlite3_bind_text(statement, 1, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
  EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW) << sqlite3_errmsg(database);
  const std::int64_t number = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return number;
}

}  // namespace pitwall::test
