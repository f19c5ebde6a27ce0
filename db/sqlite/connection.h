// A thin owner of SQLite's handles, with errors as Result. Callers write the SQL: no statement is built here.
//
// Threads: a Connection and its Statements are used by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "db/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace pitwall::store {

// How SQLite opens the file.
enum class OpenMode : std::uint8_t {
  readOnly,    // mode=ro
  immutable,   // mode=ro and no locks, no side files: there must be no writer
  readWrite,   // the file must exist
  createFile,  // made when missing
};

class Statement {
 public:
  Statement() = default;

  // Binds from the left, the first parameter being number 1. Text and blobs must live until the next reset.
  Statement& bind(int index, std::int64_t value);
  Statement& bind(int index, double value);  // NaN becomes NULL
  Statement& bind(int index, std::string_view text);
  Statement& bindBlob(int index, std::span<const std::byte> bytes);
  Statement& bindNull(int index);
  // An id of a dimension row: NULL for 0, which means none.
  Statement& bindId(int index, std::uint32_t id);

  // True when there is a row to read. Errors: as errorOf() makes them.
  Result<bool> step();
  // Runs a statement that yields no row, then resets it for the next use.
  Status run();
  void reset();

  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  bool isNull(int column) const;
  // Valid until the next step or reset.
  std::span<const std::byte> blob(int column) const;
  sqlite3_stmt* handle() const { return statement_.get(); }

 private:
  friend class Connection;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Connection {
 public:
  Connection() = default;

  // Errors: io (cannot open), corruptTrace (not a database, damaged).
  static Result<Connection> open(const std::string& path, OpenMode mode);

  // A handle that the caller has opened and will close, after the connection and its statements are gone.
  static Connection borrow(sqlite3* database);

  Status execute(const char* sql);  // one or more statements; rows are dropped
  Result<Statement> prepare(std::string_view sql);
  Result<std::int64_t> integer(std::string_view sql);  // of a statement that yields one integer
  Result<std::string> text(std::string_view sql);      // of a statement that yields one text

  // Reads raw bytes of the database file through SQLite's own descriptor: closing another descriptor in this
  // process would release SQLite's locks on the file. Bytes beyond the end are zero.
  Status readRaw(std::span<std::byte> bytes, std::uint64_t offset = 0) const;
  Result<std::int64_t> fileSize() const;

  bool isOpen() const { return database_ != nullptr; }
  const std::string& path() const { return path_; }
  sqlite3* handle() const { return database_.get(); }

  // SQLite's last failure as an Error: full disk and denied access are io, a damaged file is corruptTrace;
  // the message names the file and the remedy.
  Error lastError(std::string_view what) const;

  // Closes; open statements keep the database alive until they are finalized.
  void close() { database_.reset(); }

 private:
  struct Close {
    Close() {}  // not by default: the class around it would not be complete
    explicit Close(bool is_owned) : owned(is_owned) {}
    bool owned = true;
    void operator()(sqlite3* database) const;
  };
  std::string path_;
  std::unique_ptr<sqlite3, Close> database_;
};

// SQLite's result code as an error about the file at `path`; `detail` is SQLite's own message.
Error sqliteError(int code, int system_errno, std::string_view path, std::string_view what,
                  std::string_view detail);

}  // namespace pitwall::store
