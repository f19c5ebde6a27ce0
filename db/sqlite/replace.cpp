#include "db/sqlite/replace.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "db/file/write_remedy.h"
#include "db/sqlite/connection.h"
#include "db/sqlite/file_state.h"

namespace pitwall::store {

Failure cannotWriteTrace(const std::string& path, int error) {
  return fail(ErrorCode::io,
              fmt::format("cannot write trace '{}': {}; {}", path, std::strerror(error), writeRemedy(error)));
}

// In exclusive mode SQLite gets its lock only if no other connection is there, including those in this process.
Status checkUnused(const std::string& path) {
  Result<Connection> connection = Connection::open(path, OpenMode::readWrite);
  if (!connection.has_value()) return {};  // not writable: replacing it reports the error
  Status status =
      connection->execute("PRAGMA busy_timeout=0; PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE; ROLLBACK;");
  const std::string busy = "another program uses the file";
  if (!status.has_value() && status.error().code == ErrorCode::io &&
      status.error().message.find(busy) != std::string::npos) {
    return fail(ErrorCode::io, fmt::format("cannot write trace '{}': it is being recorded or read; wait for "
                                           "that to end, or choose another path",
                                           path));
  }
  return {};  // a damaged trace may be replaced
}

Status moveIntoPlace(const std::string& draft, const std::string& path) {
  for (const std::string& side : {walPath(path), shmPath(path), journalPath(path)}) {
    if (::unlink(side.c_str()) != 0 && errno != ENOENT) return cannotWriteTrace(side, errno);
  }
  if (std::rename(draft.c_str(), path.c_str()) != 0) return cannotWriteTrace(path, errno);
  return {};
}

}  // namespace pitwall::store
