#include "db/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "db/file/resolved_path.h"
#include "db/file/write_remedy.h"
#include "db/sqlite/batch_writer.h"
#include "db/sqlite/column_codec.h"
#include "db/sqlite/file_state.h"
#include "db/sqlite/schema.h"
#include "db/sqlite/trace_writer.h"
#include "db/try.h"

namespace pitwall {

namespace {

using store::BatchWriter;
using store::Connection;
using store::FileKind;
using store::FileState;
using store::OpenMode;

Failure cannotWrite(const std::string& path, int error) {
  return fail(ErrorCode::io,
              fmt::format("cannot write trace '{}': {}; {}", path, std::strerror(error), writeRemedy(error)));
}

// Whether the trace at `path` is being recorded or read: then its side files must not be removed. In
// exclusive mode SQLite gets its lock only if no other connection is there, including those in this process.
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

Status checkReplaceable(const std::string& path, const StoreOptions& options) {
  FileState state = PITWALL_TRY(store::inspectFile(path));
  const auto refuse = [&](std::string_view what) {
    return fail(
        ErrorCode::invalidInput,
        fmt::format("cannot write trace '{}': {}, which is not replaced; choose another path", path, what));
  };
  switch (state.kind) {
    case FileKind::missing:
    case FileKind::empty: return {};
    case FileKind::folder: return refuse("there is a folder of that name");
    case FileKind::special: return refuse("it is a device, pipe or socket");
    case FileKind::text: return refuse("there is a file that is not a trace");
    case FileKind::foreignDatabase: return refuse("there is a database of another program");
    case FileKind::trace: break;
  }
  if (!options.overwrite) return refuse("there is a trace already");
  return checkUnused(path);
}

// Creates an empty trace under a temporary name, so that `path` holds either a complete trace or the old
// file.
Status createEmpty(const std::string& draft, const std::string& path) {
  const int file = ::open(draft.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
  if (file < 0) return cannotWrite(path, errno);
  ::close(file);
  Connection connection = PITWALL_TRY(Connection::open(draft, OpenMode::readWrite));
  return store::createSchema(connection);
}

void removeWithSideFiles(const std::string& path) {
  for (const std::string& file : {path, store::walPath(path), store::shmPath(path), store::journalPath(path)})
    ::unlink(file.c_str());
}

// Stale side files are removed first: SQLite would use an old log with the new file.
Status moveIntoPlace(const std::string& draft, const std::string& path) {
  for (const std::string& side : {store::walPath(path), store::shmPath(path), store::journalPath(path)}) {
    if (::unlink(side.c_str()) != 0 && errno != ENOENT) return cannotWrite(side, errno);
  }
  if (std::rename(draft.c_str(), path.c_str()) != 0) return cannotWrite(path, errno);
  return {};
}

}  // namespace

Result<std::string> replaceableTrace(const std::string& path, const StoreOptions& options) {
  if (path.empty())
    return fail(ErrorCode::invalidInput, "cannot write a trace: its path is empty; give a file name");
  std::string target = resolvedPath(path);
  PITWALL_TRY(checkReplaceable(target, options));
  return target;
}

Result<std::unique_ptr<TraceSink>> createTrace(const std::string& path, StoreOptions options) {
  if (options.chunk_events < 1 || options.chunk_events > store::kMaxChunkRows) {
    return fail(ErrorCode::invalidInput, fmt::format("chunk_events is {}: must be in 1..{}",
                                                     options.chunk_events, store::kMaxChunkRows));
  }
  if (options.most_pending_rows < 1) {
    return fail(ErrorCode::invalidInput,
                fmt::format("most_pending_rows is {}: must be at least 1", options.most_pending_rows));
  }
  const std::string target = PITWALL_TRY(replaceableTrace(path, options));

  const std::string draft = fmt::format("{}.{}.draft", target, ::getpid());
  removeWithSideFiles(draft);
  Status status = createEmpty(draft, target);
  if (status.has_value()) status = moveIntoPlace(draft, target);
  if (!status.has_value()) {
    removeWithSideFiles(draft);
    return fail(status.error());
  }
  Connection connection = PITWALL_TRY(Connection::open(target, OpenMode::readWrite));
  std::unique_ptr<BatchWriter> writer =
      PITWALL_TRY(BatchWriter::create(std::move(connection), static_cast<std::size_t>(options.chunk_events)));
  return std::unique_ptr<TraceSink>(std::make_unique<store::TraceWriter>(
      std::move(writer), target, static_cast<std::size_t>(options.most_pending_rows)));
}

}  // namespace pitwall
