// Writes a trace as a database of ordinary rows that any program with SQLite can read: the documented tables
// unchanged, and event, dependency and counter as tables with the columns of the virtual ones.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "db/export/formats.h"
#include "db/export/output_file.h"
#include "db/sqlite/connection.h"
#include "db/sqlite/replace.h"
#include "db/sqlite/schema.h"
#include "db/sqlite/sql_name.h"
#include "db/try.h"
#include "db/unfinished.h"

namespace pitwall::exporting {

namespace {

using store::Connection;
using store::OpenMode;
using store::sqlName;
using store::Statement;

// DuckDB's reader of SQLite files reads no table without rowid.
std::string withRowid(std::string sql) {
  const std::size_t options = sql.rfind(')') + 1;
  const std::size_t at = sql.find("WITHOUT ROWID", options);
  if (at == std::string::npos) return sql;
  sql.erase(at);
  return sql.erase(sql.find_last_not_of(", \n") + 1);
}

// Inserts the visited rows into one table.
class Inserter final : public SqlVisitor {
 public:
  Inserter(Connection& connection, std::string table, Pace& pace)
      : connection_(connection), table_(std::move(table)), pace_(pace) {}
  void columns(std::span<const std::string> names) override {
    std::string sql = "INSERT INTO " + sqlName(table_) + " VALUES (?";
    for (std::size_t i = 1; i < names.size(); ++i) sql += ", ?";
    Result<Statement> statement = connection_.prepare(sql + ")");
    if (statement.has_value()) {
      insert_ = std::move(*statement);
    } else {
      status = fail(statement.error());
    }
  }
  bool row(std::span<const SqlValue> values) override {
    if (!status.has_value()) return false;
    for (std::size_t i = 0; i < values.size(); ++i) bind(static_cast<int>(i + 1), values[i]);
    status = insert_.run();
    if (status.has_value() && ++rows % 8192 == 0) status = pace_.advance(8192);
    return status.has_value();
  }
  Status status;
  std::int64_t rows = 0;

 private:
  void bind(int index, const SqlValue& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
      insert_.bind(index, *integer);
    } else if (const auto* real = std::get_if<double>(&value)) {
      insert_.bind(index, *real);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
      insert_.bind(index, std::string_view(*text));
    } else {
      insert_.bindNull(index);
    }
  }
  Connection& connection_;
  std::string table_;
  Pace& pace_;
  Statement insert_;
};

class RowsWriter {
 public:
  RowsWriter(Trace& trace, Connection connection, Pace& pace)
      : trace_(trace), connection_(std::move(connection)), pace_(pace) {}

  Result<ExportSummary> write() {
    PITWALL_TRY(begin());
    PITWALL_TRY(ordinaryTables());
    PITWALL_TRY(virtualTable("event", summary_.events));
    PITWALL_TRY(virtualTable("dependency", summary_.dependencies));
    PITWALL_TRY(virtualTable("counter", summary_.samples));
    PITWALL_TRY(finish());
    return summary_;
  }

 private:
  // The file gets its name only when it is complete: a journal and synchronous writes would gain nothing.
  Status begin() {
    const std::string sql = fmt::format(
        "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA application_id={}; PRAGMA user_version={}; "
        "BEGIN;",
        store::kRowsApplicationId, store::kSchemaVersion);
    return connection_.execute(sql.c_str());
  }

  Status ordinaryTables() {
    const auto tables = PITWALL_TRY(trace_.query(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '%\\_chunk' ESCAPE '\\' "
        "AND name <> 'event_summary' "
        "AND name NOT LIKE 'sqlite%' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY rowid"));
    for (const auto& row : tables.rows) {
      std::int64_t rows = 0;
      PITWALL_TRY(connection_.execute(withRowid(std::get<std::string>(row[1])).c_str()));
      PITWALL_TRY(copy(std::get<std::string>(row[0]), rows));
    }
    return {};
  }

  Status virtualTable(const std::string& name, std::int64_t& rows) {
    const auto columns = PITWALL_TRY(trace_.query("PRAGMA table_info(" + sqlName(name) + ")"));
    std::string sql = "CREATE TABLE " + sqlName(name) + "(";
    for (std::size_t i = 0; i < columns.rows.size(); ++i) {
      const auto& column = std::get<std::string>(columns.rows[i].at(1));
      sql += (i == 0 ? "" : ", ") + sqlName(column);
      sql += " " + std::get<std::string>(columns.rows[i].at(2));
      if (column == "id") sql += " PRIMARY KEY";
    }
    PITWALL_TRY(connection_.execute((sql + ")").c_str()));
    return copy(name, rows);
  }

  Status copy(const std::string& table, std::int64_t& rows) {
    Inserter inserter(connection_, table, pace_);
    Status status = trace_.visit("SELECT * FROM " + sqlName(table), {}, inserter);
    rows = inserter.rows;
    return inserter.status.has_value() ? std::move(status) : std::move(inserter.status);
  }

  Status finish() {
    return connection_.execute(
        "CREATE INDEX event_by_time ON event(track, start_ns);"
        "CREATE INDEX event_by_name ON event(name);"
        "CREATE INDEX event_by_correlation ON event(correlation);"
        "CREATE INDEX dependency_by_source ON dependency(source);"
        "CREATE INDEX dependency_by_target ON dependency(target);"
        "CREATE INDEX counter_by_time ON counter(track, time_ns);"
        "COMMIT; PRAGMA optimize;");
  }

  Trace& trace_;
  Connection connection_;
  Pace& pace_;
  ExportSummary summary_;
};

Result<ExportSummary> writeWhole(Trace& trace, const std::string& output, Pace& pace) {
  const Unfinished temporary(temporaryName(output));
  removeWithSideFiles(temporary.path());
  Connection connection = PITWALL_TRY(Connection::open(temporary.path(), OpenMode::createFile));
  auto summary = PITWALL_TRY(RowsWriter(trace, std::move(connection), pace).write());
  PITWALL_TRY(store::moveIntoPlace(temporary.path(), output));
  return summary;
}

}  // namespace

// A part of a trace becomes a trace first, so that both formats leave out the same.
Result<ExportSummary> writeRows(Trace& trace, const std::string& output, const Selection& selection,
                                Pace& pace, const ExportOptions& options) {
  if (selection.isComplete()) return writeWhole(trace, output, pace);
  const Unfinished part(temporaryName(output + ".part"));
  PITWALL_TRY(writeTrace(trace, part.path(), selection, pace, options));
  const auto selected = PITWALL_TRY(Trace::open(part.path()));
  return writeWhole(*selected, output, pace);
}

}  // namespace pitwall::exporting
