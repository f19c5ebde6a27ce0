// Writes a trace file (NAME.pitwall, one SQLite database; layout in db/schema/schema.sql).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "db/result.h"
#include "db/sink.h"

namespace pitwall {

struct StoreOptions {
  // Replace an existing trace. A file that is not a Pitwall trace is never replaced, but an empty one is.
  bool overwrite = true;
  // Events of a track that make a chunk, 1..1048576; a chunk is also cut at every commit.
  int chunk_events = 8192;
  // Rows that may be pending, at least 1; each event takes 88 bytes, twice that while others are written. A
  // recording should buffer in memory rather than wait for a slow disk; a producer that can wait is faster
  // with a smaller limit, since memory is reused instead of newly allocated.
  std::int64_t most_pending_rows = 4'000'000;
};

// For producers that can wait.
inline constexpr std::int64_t kPendingRowsOfAnImport = 262'144;

// Creates the file and returns a sink that writes it from a separate thread, with one transaction per 250 ms,
// million events or flush(). The sink's calls only copy; a producer with more than most_pending_rows pending
// waits for the disk, but never for a disk that has failed. A sink destroyed without finish() writes its
// pending rows and leaves the trace marked incomplete.
//
// A process killed at any moment leaves a file that Trace::open reads up to the last commit, marked
// incomplete. The old trace at the path stays until the new one exists.
//
// Errors: io (folder missing, not writable, disk full, the trace at the path is being recorded or read),
// invalidInput (the path is another program's file or not a file; options out of range).
Result<std::unique_ptr<TraceSink>> createTrace(const std::string& path, StoreOptions options = {});

// The file that createTrace() would write, which is `path` with its links resolved; nothing is written. For a producer that
// writes under another name first. Errors: as for createTrace().
Result<std::string> replaceableTrace(const std::string& path, const StoreOptions& options = {});

}  // namespace pitwall
