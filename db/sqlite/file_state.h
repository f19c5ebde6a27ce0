// Examines the file at a path before opening it: so that no file of another program is replaced, and errors
// describe the file better than SQLite would.
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
  text,             // not a database
  foreignDatabase,  // a database of another program
  trace,
};

struct FileState {
  FileKind kind = FileKind::missing;
  std::int64_t size_bytes = 0;
  int schema_version = 0;
  bool wal_mode = false;     // by its header the file uses a write-ahead log
  bool has_wal = false;      // the log exists and is not empty
  bool has_journal = false;  // a non-empty rollback journal: a writer was killed in a transaction
  bool truncated = false;    // shorter than its header says; set only when no log can complete it
};

// Errors: io when the path cannot be examined or read.
Result<FileState> inspectFile(const std::string& path);

// SQLite's companions of a database file.
std::string walPath(const std::string& path);
std::string shmPath(const std::string& path);
std::string journalPath(const std::string& path);

}  // namespace pitwall::store
