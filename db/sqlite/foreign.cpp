#include "db/sqlite/foreign.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "db/sqlite/connection.h"
#include "db/sqlite/sql_name.h"
#include "db/sqlite/table_pages.h"
#include "db/try.h"

namespace pitwall::store {
namespace {

constexpr int kLongestValue = 64 << 20;

// SQLite's statement errors are errors of the file here: the statements are ours, and simple. The remedy is
// to export the file again with the other program.
Error asDamage(Error error) {
  if (error.code != ErrorCode::internal && error.code != ErrorCode::corruptTrace) return error;
  for (const std::string_view remedy :
       {"; please report this", "; the file is damaged: record again, or restore a copy"}) {
    const std::size_t at = error.message.rfind(remedy);
    if (at != std::string::npos)
      error.message.replace(at, std::string::npos, "; the file is damaged: export it again");
  }
  error.code = ErrorCode::corruptTrace;
  return error;
}

sqlite3_stmt* handleOf(void* statement) { return static_cast<sqlite3_stmt*>(statement); }

// Only the main file is read: changes in a log of a program that still has it open, or was killed, would be
// silently missing.
Status haveAllInOneFile(const std::string& path) {
  for (const char* const beside : {"-wal", "-journal"}) {
    std::error_code error;
    const std::uintmax_t bytes = std::filesystem::file_size(path + beside, error);
    if (error || bytes == 0) continue;
    return fail(ErrorCode::invalidInput,
                fmt::format("'{0}' is incomplete: '{0}{1}' beside it holds changes of a program that still "
                            "writes it, or was killed; close that program, or run sqlite3 '{0}' "
                            "'PRAGMA wal_checkpoint(TRUNCATE)', and try again",
                            path, beside));
  }
  return {};
}

}  // namespace

bool ForeignRow::isNullInSql(std::size_t column) const {
  const int at = position_[column];
  return at < 0 || sqlite3_column_type(handleOf(statement_), at) == SQLITE_NULL;
}

std::int64_t ForeignRow::integerInSql(std::size_t column) const {
  const int at = position_[column];
  return at < 0 ? 0 : sqlite3_column_int64(handleOf(statement_), at);
}

double ForeignRow::realInSql(std::size_t column) const {
  const int at = position_[column];
  return at < 0 ? 0 : sqlite3_column_double(handleOf(statement_), at);
}

std::string_view ForeignRow::textInSql(std::size_t column) const {
  const int at = position_[column];
  if (at < 0) return {};
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(handleOf(statement_), at));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(handleOf(statement_), at))};
}

ForeignDatabase::ForeignDatabase() = default;
ForeignDatabase::~ForeignDatabase() = default;

Result<std::unique_ptr<ForeignDatabase>> ForeignDatabase::open(const std::string& path) {
  PITWALL_TRY(haveAllInOneFile(path));
  auto connection = Connection::open(path, OpenMode::immutable);
  if (!connection.has_value()) return fail(asDamage(connection.error()));
  std::unique_ptr<ForeignDatabase> database(new ForeignDatabase);
  database->connection_ = std::make_unique<Connection>(std::move(*connection));
  sqlite3* handle = database->connection_->handle();
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kLongestValue);
  sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
  if (auto status = database->readTables(); !status.has_value()) return fail(asDamage(status.error()));
  return database;
}

Status ForeignDatabase::readTables() {
  auto list = connection_->prepare(
      "SELECT name, rootpage FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'");
  if (!list.has_value()) return fail(asDamage(list.error()));
  for (;;) {
    auto row = list->step();
    if (!row.has_value()) return fail(asDamage(row.error()));
    if (!*row) break;
    tables_[list->text(0)].root = list->integer(1);
  }
  for (auto& [name, table] : tables_) {
    PITWALL_TRY(readColumns(name, table));
  }
  return {};
}

Status ForeignDatabase::readColumns(const std::string& name, Table& table) {
  // A column that is the row id is stored empty, and one that was added later is missing in older rows: both
  // need SQL. Generated columns shift the positions of the following ones.
  auto info = connection_->prepare(
      "SELECT name, cid, pk = 0 AND dflt_value IS NULL, hidden FROM pragma_table_xinfo(?)");
  if (!info.has_value()) return fail(asDamage(info.error()));
  info->bind(1, std::string_view(name));
  for (;;) {
    auto row = info->step();
    if (!row.has_value()) return fail(asDamage(row.error()));
    if (!*row) return {};
    if (info->integer(3) != 0) {
      table.plain = false;
    } else {
      table.columns[info->text(0)] = {static_cast<int>(info->integer(1)), info->integer(2) != 0};
    }
  }
}

bool ForeignDatabase::has(std::string_view table, std::string_view column) const {
  const auto found = tables_.find(table);
  return found != tables_.end() && found->second.columns.find(column) != found->second.columns.end();
}

std::vector<std::string> ForeignDatabase::tables() const {
  std::vector<std::string> names;
  for (const auto& entry : tables_) names.push_back(entry.first);
  return names;
}

Status ForeignDatabase::visit(std::string_view table, std::span<const std::string_view> columns,
                              const Visitor& visitor) {
  const auto found = tables_.find(table);
  if (found == tables_.end()) return {};
  bool plain = found->second.plain;
  std::vector<int> positions;
  for (const std::string_view column : columns) {
    const auto known = found->second.columns.find(column);
    const bool there = known != found->second.columns.end();
    positions.push_back(there ? known->second.position : -1);
    plain = plain && (!there || known->second.plain);
  }
  if (std::all_of(positions.begin(), positions.end(), [](int at) { return at < 0; })) return {};
  if (plain) {
    Status status = visitPlain(found->second, ForeignRow(std::move(positions)), visitor, plain);
    if (plain) return status;
  }
  return visitBySql(table, columns, visitor);
}

// Sets `plain` to false, and visits no rows, where the pages are not those of a plain table.
Status ForeignDatabase::visitPlain(const Table& table, ForeignRow row, const Visitor& visitor, bool& plain) {
  auto pages = PITWALL_TRY(TablePages::open(*connection_, table.root));
  plain = pages.has_value();
  if (!plain) return {};
  row.plain_ = true;
  std::span<const std::byte> bytes;
  while (pages->next(bytes)) {
    if (!row.record_.read(bytes)) return pages->damagedRow();
    PITWALL_TRY(visitor(row));
  }
  return pages->takeStatus();
}

Status ForeignDatabase::visitBySql(std::string_view table, std::span<const std::string_view> columns,
                                   const Visitor& visitor) {
  std::string wanted;
  std::vector<int> positions;
  int next = 0;
  for (const std::string_view column : columns) {
    const bool known = has(table, column);
    positions.push_back(known ? next++ : -1);
    if (known) wanted += (wanted.empty() ? "" : ", ") + sqlName(column);
  }
  auto statement = connection_->prepare(fmt::format("SELECT {} FROM {}", wanted, sqlName(table)));
  if (!statement.has_value()) return fail(asDamage(statement.error()));
  ForeignRow view(std::move(positions));
  view.statement_ = statement->handle();
  for (;;) {
    auto row = statement->step();
    if (!row.has_value()) return fail(asDamage(row.error()));
    if (!*row) return {};
    PITWALL_TRY(visitor(view));
  }
}

Result<std::optional<std::int64_t>> ForeignDatabase::minimum(std::string_view table, std::string_view column,
                                                             std::int64_t above) {
  std::optional<std::int64_t> least;
  const std::string_view columns[] = {column};
  Status status = visit(table, columns, [&](const ForeignRow& row) -> Status {
    if (!row.isNull(0) && row.integer(0) > above)
      least = std::min(least.value_or(row.integer(0)), row.integer(0));
    return {};
  });
  PITWALL_TRY(status);
  return least;
}

Result<std::int64_t> ForeignDatabase::rows(std::string_view table) {
  if (!has(table)) return std::int64_t{0};
  auto rows = connection_->integer(fmt::format("SELECT count(*) FROM {}", sqlName(table)));
  if (!rows.has_value()) return fail(asDamage(rows.error()));
  return rows;
}

Result<std::int64_t> ForeignDatabase::applicationId() {
  auto id = connection_->integer("PRAGMA application_id");
  if (!id.has_value()) return fail(asDamage(id.error()));
  return id;
}

}  // namespace pitwall::store
