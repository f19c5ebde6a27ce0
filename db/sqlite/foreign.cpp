#include "db/sqlite/foreign.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include "db/sqlite/connection.h"

namespace pitwall::store {
namespace {

constexpr int kLongestValue = 64 << 20;

std::string quotedName(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

// What SQLite calls a fault of the statement is a fault of the file here: the statements are ours, and
// simple.
Error asDamage(Error error) {
  if (error.code != ErrorCode::internal) return error;
  constexpr std::string_view kRemedy = "; please report this";
  const std::size_t at = error.message.rfind(kRemedy);
  if (at != std::string::npos)
    error.message.replace(at, std::string::npos, "; the file is damaged: export it again");
  error.code = ErrorCode::corruptTrace;
  return error;
}

sqlite3_stmt* handleOf(void* statement) { return static_cast<sqlite3_stmt*>(statement); }

}  // namespace

bool ForeignRow::isNull(std::size_t column) const {
  const int at = position_[column];
  return at < 0 || sqlite3_column_type(handleOf(statement_), at) == SQLITE_NULL;
}

std::int64_t ForeignRow::integer(std::size_t column) const {
  const int at = position_[column];
  return at < 0 ? 0 : sqlite3_column_int64(handleOf(statement_), at);
}

double ForeignRow::real(std::size_t column) const {
  auto* statement = static_cast<sqlite3_stmt*>(statement_);
  return position_[column] < 0 ? 0 : sqlite3_column_double(statement, position_[column]);
}

std::string_view ForeignRow::text(std::size_t column) const {
  const int at = position_[column];
  if (at < 0) return {};
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(handleOf(statement_), at));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(handleOf(statement_), at))};
}

ForeignDatabase::ForeignDatabase() = default;
ForeignDatabase::~ForeignDatabase() = default;

Result<std::unique_ptr<ForeignDatabase>> ForeignDatabase::open(const std::string& path) {
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
      "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'");
  if (!list.has_value()) return fail(asDamage(list.error()));
  for (;;) {
    auto row = list->step();
    if (!row.has_value()) return fail(asDamage(row.error()));
    if (!*row) break;
    columns_[list->text(0)];
  }
  for (auto& [table, columns] : columns_) {
    auto info = connection_->prepare("SELECT name FROM pragma_table_info(?)");
    if (!info.has_value()) return fail(asDamage(info.error()));
    info->bind(1, std::string_view(table));
    for (;;) {
      auto row = info->step();
      if (!row.has_value()) return fail(asDamage(row.error()));
      if (!*row) break;
      columns.insert(info->text(0));
    }
  }
  return {};
}

bool ForeignDatabase::has(std::string_view table, std::string_view column) const {
  const auto found = columns_.find(table);
  return found != columns_.end() && found->second.find(column) != found->second.end();
}

std::vector<std::string> ForeignDatabase::tables() const {
  std::vector<std::string> names;
  for (const auto& entry : columns_) names.push_back(entry.first);
  return names;
}

Status ForeignDatabase::visit(std::string_view table, std::span<const std::string_view> columns,
                              const Visitor& visitor) {
  if (!has(table)) return {};
  ForeignRow view;
  std::string wanted;
  int next = 0;
  for (const std::string_view column : columns) {
    const bool known = has(table, column);
    view.position_.push_back(known ? next++ : -1);
    if (known) wanted += (wanted.empty() ? "" : ", ") + quotedName(column);
  }
  if (wanted.empty()) return {};
  auto statement = connection_->prepare(fmt::format("SELECT {} FROM {}", wanted, quotedName(table)));
  if (!statement.has_value()) return fail(asDamage(statement.error()));
  view.statement_ = statement->handle();
  for (;;) {
    auto row = statement->step();
    if (!row.has_value()) return fail(asDamage(row.error()));
    if (!*row) return {};
    if (auto status = visitor(view); !status.has_value()) return status;
  }
}

Result<std::optional<std::int64_t>> ForeignDatabase::minimum(std::string_view table,
                                                             std::string_view column) {
  if (!has(table, column)) return std::optional<std::int64_t>();
  auto statement =
      connection_->prepare(fmt::format("SELECT min({}) FROM {}", quotedName(column), quotedName(table)));
  if (!statement.has_value()) return fail(asDamage(statement.error()));
  auto row = statement->step();
  if (!row.has_value()) return fail(asDamage(row.error()));
  if (!*row || statement->isNull(0)) return std::optional<std::int64_t>();
  return std::optional<std::int64_t>(statement->integer(0));
}

Result<std::int64_t> ForeignDatabase::rows(std::string_view table) {
  if (!has(table)) return std::int64_t{0};
  auto rows = connection_->integer(fmt::format("SELECT count(*) FROM {}", quotedName(table)));
  if (!rows.has_value()) return fail(asDamage(rows.error()));
  return rows;
}

Result<std::int64_t> ForeignDatabase::applicationId() {
  auto id = connection_->integer("PRAGMA application_id");
  if (!id.has_value()) return fail(asDamage(id.error()));
  return id;
}

}  // namespace pitwall::store
