// Trace::open: chooses how to read a file without changing it.
//
//   finished trace                      one file, read in place
//   log mode without a log              read in place as immutable; SQLite would create side files otherwise
//   log mode with a log                 killed or still being recorded: read in place with the log;
//                                       from a copy where SQLite cannot create its side file
//   rollback journal                    its writer was killed while closing it: recovered in a copy
//   older schema                        migrated in a copy
//
// A trace with the ring file of a killed recording beside it is first completed from the rings, in place: the
// only case in which opening changes a file (db/recovery/complete.h).
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "db/reader.h"
#include "db/recovery/complete.h"
#include "db/sqlite/file_state.h"
#include "db/sqlite/schema.h"
#include "db/sqlite/temp_copy.h"
#include "db/sqlite/trace_data.h"
#include "db/sqlite/trace_reader.h"
#include "db/try.h"

namespace pitwall {

namespace {

using store::Connection;
using store::FileKind;
using store::FileState;
using store::OpenMode;
using store::TempCopy;
using store::TraceData;

Status checkReadable(const std::string& path, const FileState& state) {
  const auto refuse = [&](ErrorCode code, std::string_view what) {
    return fail(code, fmt::format("cannot read trace '{}': {}", path, what));
  };
  switch (state.kind) {
    case FileKind::missing: return refuse(ErrorCode::notFound, "there is no such file; check the path");
    case FileKind::folder:
      return refuse(ErrorCode::invalidInput, "it is a folder; give the path of a .pitwall file");
    case FileKind::special:
      return refuse(ErrorCode::invalidInput,
                    "it is a device, pipe or socket; give the path of a .pitwall file");
    case FileKind::empty: return refuse(ErrorCode::corruptTrace, "the file is empty; record again");
    case FileKind::text:
      return refuse(ErrorCode::corruptTrace, "the file is not a trace; give the path of a .pitwall file");
    case FileKind::foreignDatabase:
      return refuse(ErrorCode::corruptTrace,
                    "the file is a database of another program; give the path of a .pitwall file");
    case FileKind::trace: break;
  }
  if (state.schema_version > store::kSchemaVersion) {
    return fail(
        ErrorCode::versionMismatch,
        fmt::format(
            "cannot read trace '{}': a newer Pitwall wrote it (schema version {}, this one reads up to "
            "{}); use that Pitwall",
            path, state.schema_version, store::kSchemaVersion));
  }
  if (state.schema_version < 1)
    return refuse(ErrorCode::corruptTrace, "it has no schema version; record again, or restore a copy");
  if (state.truncated)
    return refuse(ErrorCode::corruptTrace, "the file is truncated; restore a complete copy, or record again");
  return {};
}

Result<std::unique_ptr<TraceData>> load(const std::string& path, OpenMode mode) {
  Connection connection = PITWALL_TRY(Connection::open(path, mode));
  return TraceData::load(std::move(connection));
}

Result<std::unique_ptr<TraceData>> migrateAndLoad(const std::string& path) {
  Connection connection = PITWALL_TRY(Connection::open(path, OpenMode::readWrite));
  PITWALL_TRY(store::migrate(connection, store::kSchemaVersion, store::migrations()));
  return TraceData::load(std::move(connection));
}

Result<std::unique_ptr<Trace>> openCopy(const std::string& path) {
  TempCopy copy = PITWALL_TRY(TempCopy::make(path));
  Result<std::unique_ptr<TraceData>> data = migrateAndLoad(copy.file());
  if (!data.has_value()) {
    return fail(data.error().code,
                fmt::format("cannot read trace '{}' through a copy: {}", path, data.error().message));
  }
  return std::unique_ptr<Trace>(
      std::make_unique<store::TraceReader>(path, std::move(copy), std::move(*data)));
}

// `problem` describes the part of a killed recording that could not be recovered; "" = none.
Result<std::unique_ptr<Trace>> openAsItIs(const std::string& path, const FileState& state,
                                          const std::string& problem) {
  if (state.has_journal || state.schema_version < store::kSchemaVersion) return openCopy(path);
  const OpenMode mode = state.wal_mode && !state.has_wal ? OpenMode::immutable : OpenMode::readOnly;
  Result<std::unique_ptr<TraceData>> data = load(path, mode);
  if (!data.has_value()) {
    if (state.has_wal && data.error().code == ErrorCode::io) return openCopy(path);
    return fail(data.error());
  }
  if (!problem.empty()) (*data)->addLoss({{}, 0, 0, 1, problem});
  return std::unique_ptr<Trace>(std::make_unique<store::TraceReader>(path, TempCopy(), std::move(*data)));
}

}  // namespace

Result<std::unique_ptr<Trace>> Trace::open(const std::string& path) {
  FileState state = PITWALL_TRY(store::inspectFile(path));
  PITWALL_TRY(checkReadable(path, state));
  // Records left in the rings of a killed recording are added first; most traces have none.
  const recovery::Completion completed = recovery::completeTrace(path);
  if (completed.events != 0 || completed.open_scopes != 0) state = PITWALL_TRY(store::inspectFile(path));
  return openAsItIs(path, state, completed.problem);
}

}  // namespace pitwall
