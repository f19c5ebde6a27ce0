#include "db/sqlite/sql_query.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include "db/sqlite/sql_name.h"
#include "db/try.h"

namespace pitwall::store {

namespace {

// From prepare to the last step: some statements, like VACUUM INTO, prepare others while they run.
class UserStatement {
 public:
  explicit UserStatement(TraceData& data) : data_(data) { data_.user_statement = true; }
  ~UserStatement() { data_.user_statement = false; }
  UserStatement(const UserStatement&) = delete;
  UserStatement& operator=(const UserStatement&) = delete;

 private:
  TraceData& data_;
};

// Lets the visitor end a statement between its rows.
class CancelWatch {
 public:
  CancelWatch(TraceData& data, SqlVisitor& visitor) : handle_(data.connection().handle()) {
    constexpr int kStepsBetween = 4096;  // of SQLite's virtual machine: about 50 microseconds
    sqlite3_progress_handler(
        handle_, kStepsBetween,
        [](void* asked) { return static_cast<SqlVisitor*>(asked)->cancelled() ? 1 : 0; }, &visitor);
  }
  ~CancelWatch() { sqlite3_progress_handler(handle_, 0, nullptr, nullptr); }
  CancelWatch(const CancelWatch&) = delete;
  CancelWatch& operator=(const CancelWatch&) = delete;

 private:
  sqlite3* handle_;
};

Failure failure(TraceData& data, std::string_view sql) {
  sqlite3* database = data.connection().handle();
  const std::string message = sqlite3_errmsg(database);
  switch (sqlite3_errcode(database) & 0xff) {
    // Our virtual tables name the damage; SQLite reports only that there is some.
    case SQLITE_CORRUPT:
      if (message.starts_with("trace '")) return fail(ErrorCode::corruptTrace, message);
      return fail(data.connection().lastError("read"));
    case SQLITE_IOERR:
    case SQLITE_FULL:
    case SQLITE_NOTADB:
    case SQLITE_NOMEM: return fail(data.connection().lastError("read"));
    case SQLITE_INTERRUPT: return fail(ErrorCode::cancelled, "the query was stopped before its end");
    default:
      return fail(ErrorCode::invalidInput,
                  fmt::format("{}; in the statement: {}", message, sql.substr(0, 2000)));
  }
}

int bindValue(sqlite3_stmt* statement, int index, const SqlValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value))
    return sqlite3_bind_int64(statement, index, *integer);
  if (const auto* real = std::get_if<double>(&value)) return sqlite3_bind_double(statement, index, *real);
  if (const auto* text = std::get_if<std::string>(&value))
    return sqlite3_bind_text64(statement, index, text->data(), text->size(), SQLITE_STATIC, SQLITE_UTF8);
  return sqlite3_bind_null(statement, index);
}

Status bindParameters(TraceData& data, sqlite3_stmt* statement, std::string_view sql,
                      std::span<const SqlParameter> parameters) {
  const int count = sqlite3_bind_parameter_count(statement);
  for (int index = 1; index <= count; ++index) {
    const char* name = sqlite3_bind_parameter_name(statement, index);
    const auto given = std::find_if(parameters.begin(), parameters.end(), [name](const SqlParameter& p) {
      return name != nullptr && p.name == name;
    });
    if (given == parameters.end()) {
      return fail(ErrorCode::invalidInput,
                  fmt::format("no value was given for parameter {}; in the statement: {}",
                              name == nullptr ? "?" : name, sql.substr(0, 2000)));
    }
    if (bindValue(statement, index, given->value) != SQLITE_OK) return failure(data, sql);
  }
  return {};
}

// A SqlValue cannot hold a BLOB: it is returned as an SQL literal, X'...'.
std::string blobLiteral(sqlite3_stmt* statement, int column) {
  const auto* bytes = static_cast<const unsigned char*>(sqlite3_column_blob(statement, column));
  const int size = sqlite3_column_bytes(statement, column);
  std::string text = "X'";
  text.reserve(static_cast<std::size_t>(size) * 2 + 3);
  constexpr char kDigits[] = "0123456789ABCDEF";
  for (int i = 0; i < size; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text + "'";
}

SqlValue valueAt(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER: return std::int64_t{sqlite3_column_int64(statement, column)};
    case SQLITE_FLOAT: return sqlite3_column_double(statement, column);
    case SQLITE_TEXT:
      return std::string(reinterpret_cast<const char*>(sqlite3_column_text(statement, column)),
                         static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
    case SQLITE_BLOB: return blobLiteral(statement, column);
    default: return std::monostate{};
  }
}

// Prepares the first statement of `sql` under the rules for users' SQL and moves `sql` behind it. Null when
// only blanks and comments are left.
Result<StatementPtr> prepareNext(TraceData& data, std::string_view& sql) {
  if (sql.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    return fail(ErrorCode::invalidInput, "the statement is longer than 2 GiB");
  sqlite3_stmt* raw = nullptr;
  const char* tail = nullptr;
  const int code =
      sqlite3_prepare_v2(data.connection().handle(), sql.data(), static_cast<int>(sql.size()), &raw, &tail);
  StatementPtr statement(raw);
  if (code == SQLITE_AUTH) {
    return fail(
        ErrorCode::invalidInput,
        fmt::format("a trace is read-only: SELECT and temp tables are allowed ({}); in the statement: {}",
                    sqlite3_errmsg(data.connection().handle()), sql.substr(0, 2000)));
  }
  if (code != SQLITE_OK) return failure(data, sql);
  sql.remove_prefix(static_cast<std::size_t>(tail - sql.data()));
  return statement;
}

// False when the visitor ends the query.
Result<bool> runStatement(TraceData& data, sqlite3_stmt* statement, std::string_view sql,
                          std::span<const SqlParameter> parameters, SqlVisitor& visitor) {
  PITWALL_TRY(bindParameters(data, statement, sql, parameters));
  const int columns = sqlite3_column_count(statement);
  std::vector<std::string> names;
  for (int i = 0; i < columns; ++i) names.emplace_back(sqlite3_column_name(statement, i));
  if (columns > 0) visitor.columns(names);
  std::vector<SqlValue> row(static_cast<std::size_t>(columns));
  while (true) {
    const int code = sqlite3_step(statement);
    if (code == SQLITE_DONE) return true;
    if (code != SQLITE_ROW) return failure(data, sql);
    for (int i = 0; i < columns; ++i) row[static_cast<std::size_t>(i)] = valueAt(statement, i);
    if (!visitor.row(row)) return false;
  }
}

// Keeps the rows of the last statement; one that yields no columns clears them too.
class RowCollector final : public SqlVisitor {
 public:
  void beginStatement() { rows_ = {}; }
  void columns(std::span<const std::string> names) override {
    rows_.columns.assign(names.begin(), names.end());
  }
  bool row(std::span<const SqlValue> values) override {
    rows_.rows.emplace_back(values.begin(), values.end());
    return true;
  }
  SqlRows take() && { return std::move(rows_); }

 private:
  SqlRows rows_;
};

// Runs a prepared statement, and leaves it ready to be run again.
template <class Run>
Result<bool> runPrepared(sqlite3_stmt* statement, std::string_view sql, Run run) {
  Result<bool> more = run(statement, sql);
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  return more;
}

// Calls `run` with each statement of `sql`, until it returns false. A single statement is kept prepared.
template <class Run>
Status eachStatement(TraceData& data, const std::string& sql, Run run) {
  const UserStatement rules(data);
  // Out of its place while it runs: a visitor may run another query.
  LastStatement last = std::exchange(data.lastStatement(), {});
  if (last.statement != nullptr && last.sql == sql) {
    PITWALL_TRY(runPrepared(last.statement.get(), sql, run));
    data.lastStatement() = std::move(last);
    return {};
  }
  last = {};
  bool any = false;
  std::string_view left = sql;
  while (!left.empty()) {
    const std::string_view before = left;
    StatementPtr statement = PITWALL_TRY(prepareNext(data, left));
    if (statement == nullptr) {
      if (left.empty() || left.size() == before.size()) break;
      continue;
    }
    any = true;
    const std::string_view text = before.substr(0, before.size() - left.size());
    const bool more = PITWALL_TRY(runPrepared(statement.get(), text, run));
    if (left.empty() && before.size() == sql.size()) data.lastStatement() = {sql, std::move(statement)};
    if (!more) return {};
  }
  if (!any)
    return fail(ErrorCode::invalidInput, "there is no statement to run; give one, as SELECT * FROM track");
  return {};
}

Status insertAll(TraceData& data, Statement& insert, const std::string& table,
                 std::span<const std::vector<SqlValue>> rows) {
  const std::size_t width = rows.front().size();
  for (const std::vector<SqlValue>& row : rows) {
    if (row.size() != width) {
      return fail(ErrorCode::invalidInput,
                  fmt::format("cannot insert into {}: a row has {} values, the first has {}", table,
                              row.size(), width));
    }
    for (std::size_t i = 0; i < width; ++i) bindValue(insert.handle(), static_cast<int>(i + 1), row[i]);
    const int code = sqlite3_step(insert.handle());
    sqlite3_reset(insert.handle());
    if (code != SQLITE_DONE) return failure(data, fmt::format("INSERT INTO temp.{}", table));
  }
  return {};
}

}  // namespace

Result<SqlRows> runQuery(TraceData& data, const std::string& sql, std::span<const SqlParameter> parameters) {
  RowCollector rows;
  Status status = eachStatement(data, sql, [&](sqlite3_stmt* statement, std::string_view text) {
    rows.beginStatement();
    return runStatement(data, statement, text, parameters, rows);
  });
  PITWALL_TRY(status);
  return std::move(rows).take();
}

Status visitQuery(TraceData& data, const std::string& sql, std::span<const SqlParameter> parameters,
                  SqlVisitor& visitor) {
  const CancelWatch watch(data, visitor);
  return eachStatement(data, sql, [&](sqlite3_stmt* statement, std::string_view text) {
    return runStatement(data, statement, text, parameters, visitor);
  });
}

Status insertTempRows(TraceData& data, const std::string& table,
                      std::span<const std::vector<SqlValue>> rows) {
  if (rows.empty()) return {};
  if (rows.front().empty())
    return fail(ErrorCode::invalidInput, fmt::format("cannot insert into {}: a row has no values", table));
  std::string sql = fmt::format("INSERT INTO temp.{} VALUES (?", sqlName(table));
  for (std::size_t i = 1; i < rows.front().size(); ++i) sql += ", ?";
  sql += ')';
  Connection& connection = data.connection();
  Result<Statement> insert = connection.prepare(sql);
  if (!insert.has_value()) return failure(data, sql);
  PITWALL_TRY(connection.execute("BEGIN"));
  Status status = insertAll(data, *insert, table, rows);
  Status end = connection.execute(status.has_value() ? "COMMIT" : "ROLLBACK");
  return status.has_value() ? std::move(end) : std::move(status);
}

}  // namespace pitwall::store
