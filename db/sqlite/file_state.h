// What lies at a path, before anything is opened for real: so that no file of another program is replaced,
// and so that an error says what the file is instead of what SQLite thinks of it.
#pragma once

#include <cstdint>
#include <string>

#include "db/result.h"
#include "db/sqlite/connection.h"

namespace pitwall::store {

enum class FileKind : std::uint8_t {
  missing,
  folder,
  special,  // a device, a pipe, a socket
  empty,
  text,             // bytes that are no database
  foreignDatabase,  // a database of another program
  trace,
};

struct FileState {
  FileKind kind = FileKind::missing;
  std::int64_t size_bytes = 0;
  int schema_version = 0;
  bool wal_mode = false;     // the header says that a write-ahead log goes with the file
  bool has_wal = false;      // and there is one, not empty
  bool has_journal = false;  // a rollback journal, not empty: somebody died in a transaction
  bool truncated = false;    // shorter than its header says; only told when no log can make up for it
};

// Errors: io when the path cannot be looked at or read.
Result<FileState> inspectFile(const std::string& path);

// SQLite's companions of a database file.
std::string walPath(const std::string& path);
std::string shmPath(const std::string& path);
std::string journalPath(const std::string& path);

}  // namespace pitwall::store
