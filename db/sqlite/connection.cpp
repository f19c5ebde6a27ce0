#include "db/sqlite/connection.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "db/try.h"

namespace pitwall::store {

namespace {

// Escapes characters with a meaning in a file: URI.
std::string fileUri(const std::string& path, OpenMode mode) {
  std::string uri = path.starts_with('/') ? "file://" : "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    } else {
      uri += c;
    }
  }
  if (mode == OpenMode::readOnly) uri += "?mode=ro";
  if (mode == OpenMode::immutable) uri += "?mode=ro&immutable=1";
  return uri;
}

std::string reasonOf(int code, int system_errno, std::string_view detail) {
  const bool known = system_errno != 0 && ((code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN);
  return known ? fmt::format("{} ({})", std::strerror(system_errno), detail) : std::string(detail);
}

}  // namespace

Error sqliteError(int code, int system_errno, std::string_view path, std::string_view what,
                  std::string_view detail) {
  const std::string reason = reasonOf(code, system_errno, detail);
  const auto message = [&](std::string_view remedy) {
    return fmt::format("cannot {} '{}': {}; {}", what, path, reason, remedy);
  };
  switch (code & 0xff) {
    case SQLITE_FULL:
      return {ErrorCode::io, message("the disk is full: free space or choose a path on another disk")};
    case SQLITE_IOERR:
      if (system_errno == ENOSPC || system_errno == EDQUOT || system_errno == EFBIG)
        return {ErrorCode::io,
                message("no space is left for it: free space, raise the limit on file sizes, or "
                        "choose a path on another disk")};
      return {
          ErrorCode::io,
          message(
              "check that the disk works and has space, and that no limit on file sizes applies, or choose "
              "a path on another disk")};
    case SQLITE_CANTOPEN:
      return {ErrorCode::io, message("check that its folder exists and that you may use it")};
    case SQLITE_READONLY:
    case SQLITE_PERM: return {ErrorCode::io, message("check that you may write the file and its folder")};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorCode::io,
              message("another program uses the file: wait for it to end, or choose another path")};
    case SQLITE_CORRUPT:
      return {ErrorCode::corruptTrace, message("the file is damaged: record again, or restore a copy")};
    case SQLITE_NOTADB:
      return {ErrorCode::corruptTrace, message("the file is not a trace: give the path of a .pitwall file")};
    case SQLITE_NOMEM: return {ErrorCode::io, message("not enough memory: close other programs")};
    default: return {ErrorCode::internal, message("please report this")};
  }
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement& Statement::bind(int index, std::int64_t value) {
  sqlite3_bind_int64(statement_.get(), index, value);
  return *this;
}

Statement& Statement::bind(int index, double value) {
  sqlite3_bind_double(statement_.get(), index, value);
  return *this;
}

Statement& Statement::bind(int index, std::string_view text) {
  sqlite3_bind_text64(statement_.get(), index, text.data() ? text.data() : "", text.size(), SQLITE_STATIC,
                      SQLITE_UTF8);
  return *this;
}

Statement& Statement::bindBlob(int index, std::span<const std::byte> bytes) {
  sqlite3_bind_blob64(statement_.get(), index, bytes.data(), bytes.size(), SQLITE_STATIC);
  return *this;
}

Statement& Statement::bindNull(int index) {
  sqlite3_bind_null(statement_.get(), index);
  return *this;
}

Statement& Statement::bindId(int index, std::uint32_t id) {
  return id == 0 ? bindNull(index) : bind(index, static_cast<std::int64_t>(id));
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  sqlite3* database = sqlite3_db_handle(statement_.get());
  const char* path = sqlite3_db_filename(database, "main");
  return fail(sqliteError(sqlite3_extended_errcode(database), sqlite3_system_errno(database),
                          path != nullptr ? path : "", "use", sqlite3_errmsg(database)));
}

Status Statement::run() {
  Result<bool> row = step();
  reset();
  PITWALL_TRY(row);
  return {};
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }
bool Statement::isNull(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::string Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return text == nullptr ? std::string() : std::string(text, static_cast<std::size_t>(size));
}

std::span<const std::byte> Statement::blob(int column) const {
  const auto* bytes = static_cast<const std::byte*>(sqlite3_column_blob(statement_.get(), column));
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return {bytes, bytes == nullptr ? 0 : static_cast<std::size_t>(size)};
}

void Connection::Close::operator()(sqlite3* database) const {
  if (owned) sqlite3_close_v2(database);
}

Connection Connection::borrow(sqlite3* database) {
  Connection connection;
  const char* path = sqlite3_db_filename(database, "main");
  connection.path_ = path == nullptr ? "" : path;
  connection.database_ = std::unique_ptr<sqlite3, Close>(database, Close(false));
  return connection;
}

Result<Connection> Connection::open(const std::string& path, OpenMode mode) {
  int flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  switch (mode) {
    case OpenMode::readOnly:
    case OpenMode::immutable: flags |= SQLITE_OPEN_READONLY; break;
    case OpenMode::readWrite: flags |= SQLITE_OPEN_READWRITE; break;
    case OpenMode::createFile: flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE; break;
  }
  sqlite3* database = nullptr;
  const int code = sqlite3_open_v2(fileUri(path, mode).c_str(), &database, flags, nullptr);
  Connection connection;
  connection.path_ = path;
  connection.database_.reset(database);
  if (code != SQLITE_OK) {
    const int system_errno = database != nullptr ? sqlite3_system_errno(database) : 0;
    return fail(sqliteError(code, system_errno, path, "open", sqlite3_errstr(code)));
  }
  sqlite3_busy_timeout(database, 2000);
  return connection;
}

Error Connection::lastError(std::string_view what) const {
  return sqliteError(sqlite3_extended_errcode(database_.get()), sqlite3_system_errno(database_.get()), path_,
                     what, sqlite3_errmsg(database_.get()));
}

Status Connection::execute(const char* sql) {
  if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    return fail(lastError("use"));
  return {};
}

Result<Statement> Connection::prepare(std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v3(database_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  if (code != SQLITE_OK) return fail(lastError("use"));
  Statement statement;
  statement.statement_.reset(raw);
  return statement;
}

Result<std::int64_t> Connection::integer(std::string_view sql) {
  Statement statement = PITWALL_TRY(prepare(sql));
  const bool row = PITWALL_TRY(statement.step());
  return row ? statement.integer(0) : 0;
}

Result<std::string> Connection::text(std::string_view sql) {
  Statement statement = PITWALL_TRY(prepare(sql));
  const bool row = PITWALL_TRY(statement.step());
  return row ? statement.text(0) : std::string();
}

namespace {

sqlite3_file* fileOf(sqlite3* database) {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, static_cast<void*>(&file));
  return file != nullptr && file->pMethods != nullptr ? file : nullptr;
}

}  // namespace

Status Connection::readRaw(std::span<std::byte> bytes, std::uint64_t offset) const {
  sqlite3_file* file = fileOf(database_.get());
  if (file == nullptr) return fail(ErrorCode::io, fmt::format("cannot read '{}': it is not open", path_));
  const int code = file->pMethods->xRead(file, bytes.data(), static_cast<int>(bytes.size()),
                                         static_cast<sqlite3_int64>(offset));
  if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ)
    return fail(sqliteError(code, errno, path_, "read", sqlite3_errstr(code)));
  return {};
}

Result<std::int64_t> Connection::fileSize() const {
  sqlite3_file* file = fileOf(database_.get());
  if (file == nullptr) return fail(ErrorCode::io, fmt::format("cannot read '{}': it is not open", path_));
  sqlite3_int64 size = 0;
  const int code = file->pMethods->xFileSize(file, &size);
  if (code != SQLITE_OK) return fail(sqliteError(code, errno, path_, "read", sqlite3_errstr(code)));
  return std::int64_t{size};
}

}  // namespace pitwall::store
