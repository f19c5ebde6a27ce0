#include "db/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "db/output_path.h"
#include "db/sqlite/batch_writer.h"
#include "db/sqlite/column_codec.h"
#include "db/sqlite/file_state.h"
#include "db/sqlite/replace.h"
#include "db/sqlite/schema.h"
#include "db/sqlite/trace_writer.h"
#include "db/try.h"
#include "db/unfinished.h"

namespace pitwall {

namespace {

using store::BatchWriter;
using store::Connection;
using store::FileKind;
using store::FileState;
using store::OpenMode;

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
    case FileKind::folder:
    case FileKind::special: return refuse("it is not a file");  // outputPath() refuses them with their names
    case FileKind::text: return refuse("there is a file that is not a trace");
    case FileKind::foreignDatabase: return refuse("there is a database of another program");
    case FileKind::trace: break;
  }
  if (!options.overwrite) return refuse("there is a trace already");
  return store::checkUnused(path);
}

// Creates an empty trace under a temporary name, so that `path` holds either a complete trace or the old
// file.
Status createEmpty(const std::string& draft, const std::string& path) {
  const int file = ::open(draft.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
  if (file < 0) return store::cannotWriteTrace(path, errno);
  ::close(file);
  Connection connection = PITWALL_TRY(Connection::open(draft, OpenMode::readWrite));
  return store::createSchema(connection);
}

}  // namespace

Result<std::string> replaceableTrace(const std::string& path, const StoreOptions& options) {
  std::string target = PITWALL_TRY(outputPath(path));
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

  const std::string draft = draftPath(target);
  removeWithSideFiles(draft);
  Status status = createEmpty(draft, target);
  if (status.has_value()) status = store::moveIntoPlace(draft, target);
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
