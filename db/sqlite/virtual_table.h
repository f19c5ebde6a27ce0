// Common implementation of read-only eponymous virtual tables.
//
// A table is a class with
//   static constexpr const char* kSchema;                    // "CREATE TABLE x(a INTEGER, b HIDDEN)"
//   static int bestIndex(TraceData&, sqlite3_index_info&);   // an SQLite result code
//   class Cursor {
//     explicit Cursor(TraceData&);
//     Status filter(int plan, const char* plan_text, std::span<sqlite3_value*> arguments);
//     Status next();
//     bool atEnd() const;
//     Status column(sqlite3_context*, int);
//     std::int64_t rowId() const;
//   };
// and moduleOf<Table>() is the module for SQLite. No exception passes through SQLite's frames.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <limits>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "db/result.h"
#include "db/sqlite/trace_data.h"

namespace pitwall::store {

namespace vtab {

struct TableHandle : sqlite3_vtab {
  explicit TableHandle(TraceData& trace) : sqlite3_vtab{}, data(trace) { ++data.connected_tables; }
  TableHandle(const TableHandle&) = delete;
  TableHandle& operator=(const TableHandle&) = delete;
  ~TableHandle() {
    if (--data.connected_tables == 0 && data.borrowed) data.releaseStatements();
  }
  TraceData& data;
};

template <class Table>
struct CursorHandle : sqlite3_vtab_cursor {
  explicit CursorHandle(TraceData& data) : sqlite3_vtab_cursor{}, cursor(data) {}
  typename Table::Cursor cursor;
};

inline int codeOf(const Error& error) {
  switch (error.code) {
    case ErrorCode::corruptTrace: return SQLITE_CORRUPT_VTAB;
    case ErrorCode::io: return SQLITE_IOERR;
    default: return SQLITE_ERROR;
  }
}

template <class Call>
int guarded(sqlite3_vtab* table, Call call) {
  try {
    Status status = call();
    if (status.has_value()) return SQLITE_OK;
    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_mprintf("%s", status.error().message.c_str());
    return codeOf(status.error());
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  }
}

// A table declares itself while the first statement that names it is prepared; the rules for users' SQL do
// not apply to its declaration.
template <class Table>
int connect(sqlite3* database, void* context, int, const char* const*, sqlite3_vtab** table, char**) {
  TraceData& data = *static_cast<ModuleContext*>(context)->data;
  const bool user_statement = std::exchange(data.user_statement, false);
  const int code = sqlite3_declare_vtab(database, Table::kSchema);
  data.user_statement = user_statement;
  if (code != SQLITE_OK) return code;
  sqlite3_vtab_config(database, SQLITE_VTAB_INNOCUOUS);
  *table = new (std::nothrow) TableHandle(data);
  return *table == nullptr ? SQLITE_NOMEM : SQLITE_OK;
}

inline int disconnect(sqlite3_vtab* table) {
  delete static_cast<TableHandle*>(table);
  return SQLITE_OK;
}

template <class Table>
int bestIndex(sqlite3_vtab* table, sqlite3_index_info* info) {
  try {
    return Table::bestIndex(static_cast<TableHandle*>(table)->data, *info);
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  }
}

template <class Table>
int openCursor(sqlite3_vtab* table, sqlite3_vtab_cursor** cursor) {
  return guarded(table, [&]() -> Status {
    *cursor = new CursorHandle<Table>(static_cast<TableHandle*>(table)->data);
    return {};
  });
}

template <class Table>
typename Table::Cursor& cursorOf(sqlite3_vtab_cursor* cursor) {
  return static_cast<CursorHandle<Table>*>(cursor)->cursor;
}

template <class Table>
int closeCursor(sqlite3_vtab_cursor* cursor) {
  delete static_cast<CursorHandle<Table>*>(cursor);
  return SQLITE_OK;
}

template <class Table>
int filter(sqlite3_vtab_cursor* cursor, int plan, const char* plan_text, int count, sqlite3_value** values) {
  return guarded(cursor->pVtab, [&] {
    return cursorOf<Table>(cursor).filter(plan, plan_text,
                                          std::span<sqlite3_value*>(values, static_cast<std::size_t>(count)));
  });
}

template <class Table>
int next(sqlite3_vtab_cursor* cursor) {
  return guarded(cursor->pVtab, [&] { return cursorOf<Table>(cursor).next(); });
}

template <class Table>
int atEnd(sqlite3_vtab_cursor* cursor) {
  return cursorOf<Table>(cursor).atEnd() ? 1 : 0;
}

template <class Table>
int column(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int index) {
  try {
    Status status = cursorOf<Table>(cursor).column(context, index);
    if (status.has_value()) return SQLITE_OK;
    sqlite3_result_error(context, status.error().message.c_str(), -1);
    sqlite3_result_error_code(context, codeOf(status.error()));
    return codeOf(status.error());
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  }
}

template <class Table>
int rowId(sqlite3_vtab_cursor* cursor, sqlite3_int64* id) {
  *id = cursorOf<Table>(cursor).rowId();
  return SQLITE_OK;
}

}  // namespace vtab

template <class Table>
const sqlite3_module* moduleOf() {
  static const sqlite3_module module = [] {
    sqlite3_module m = {};  // no xCreate: eponymous only
    m.xConnect = vtab::connect<Table>;
    m.xBestIndex = vtab::bestIndex<Table>;
    m.xDisconnect = vtab::disconnect;
    m.xOpen = vtab::openCursor<Table>;
    m.xClose = vtab::closeCursor<Table>;
    m.xFilter = vtab::filter<Table>;
    m.xNext = vtab::next<Table>;
    m.xEof = vtab::atEnd<Table>;
    m.xColumn = vtab::column<Table>;
    m.xRowid = vtab::rowId<Table>;
    return m;
  }();
  return &module;
}

// --- constraints ---------------------------------------------------------------------------------------

// A constraint that bestIndex passes on to filter, as two letters of the plan's text.
struct PlannedConstraint {
  int column = 0;
  unsigned char op = 0;  // SQLITE_INDEX_CONSTRAINT_...
};

// Passes on each usable comparison that `wants(column, op)`, the comparison's own collation being binary.
// SQLite checks the rows again, so that filter may return too many, never too few.
template <class Wants>
std::optional<std::string> planConstraints(sqlite3_index_info& info, Wants wants) {
  std::string plan;
  int arguments = 0;
  for (int i = 0; i < info.nConstraint; ++i) {
    const auto& constraint = info.aConstraint[i];
    const unsigned char op = constraint.op;
    const bool comparison = op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_GT ||
                            op == SQLITE_INDEX_CONSTRAINT_GE || op == SQLITE_INDEX_CONSTRAINT_LT ||
                            op == SQLITE_INDEX_CONSTRAINT_LE;
    if (!constraint.usable || !comparison || constraint.iColumn < 0 || !wants(constraint.iColumn, op))
      continue;
    if (std::string_view(sqlite3_vtab_collation(&info, i)) != "BINARY") continue;
    info.aConstraintUsage[i].argvIndex = ++arguments;
    plan += static_cast<char>('a' + constraint.iColumn);
    plan += static_cast<char>(op);
  }
  info.idxStr = sqlite3_mprintf("%s", plan.c_str());
  info.needToFreeIdxStr = 1;
  if (info.idxStr == nullptr) return std::nullopt;
  return plan;
}

inline PlannedConstraint plannedConstraint(const char* plan_text, std::size_t argument) {
  return {plan_text[2 * argument] - 'a', static_cast<unsigned char>(plan_text[2 * argument + 1])};
}

// The integers that may satisfy "column op value"; `none` when none does.
struct IntegerRange {
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::int64_t greatest = std::numeric_limits<std::int64_t>::max();
  bool none = false;

  bool contains(std::int64_t value) const { return !none && value >= least && value <= greatest; }
  bool touches(std::int64_t from, std::int64_t to) const { return !none && from <= greatest && to >= least; }
  bool isAll() const {
    return !none && least == std::numeric_limits<std::int64_t>::min() &&
           greatest == std::numeric_limits<std::int64_t>::max();
  }
  void narrow(unsigned char op, sqlite3_value* value);
};

// The argument of a table-valued function as an integer. `what` names it: "event_busy: track".
Result<std::int64_t> integerArgument(sqlite3_value* value, std::string_view what);

// For table-valued functions: passes the arguments in the hidden columns first_hidden... on, plan bit k
// saying that argument k is there. SQLITE_CONSTRAINT when one depends on a table that does not come first.
int planArguments(sqlite3_index_info& info, int first_hidden, int count);

// Argument k of such a plan; nullptr when it was not given or is NULL.
sqlite3_value* argumentOf(int plan, std::span<sqlite3_value*> arguments, int k);

// For text that lives as long as the trace.
void resultText(sqlite3_context* context, std::string_view text);

}  // namespace pitwall::store
