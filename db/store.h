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
  // Rows that the producer may be ahead of the disk, at least 1; each event takes 88 bytes, twice over while
  // others are written. A recording should rather take memory for a moment than wait for a slow disk; who can
  // wait is quicker with less, as memory that is used again need not be asked for.
  std::int64_t most_pending_rows = 4'000'000;
};

// For who can wait.
inline constexpr std::int64_t kPendingRowsOfAnImport = 262'144;

// Creates the file and returns a sink that writes it from a thread of its own, a transaction per 250 ms,
// million events or flush(). The sink's calls only copy; a producer that is more than most_pending_rows ahead
// of the disk waits for it, but never for a disk that has failed. A sink destroyed without finish() writes
// what it was given and leaves the trace marked incomplete.
//
// A process killed at any moment leaves a file that Trace::open reads up to the last commit, marked
// incomplete. The old trace at the path stays until the new one exists.
//
// Errors: io (folder missing, not writable, disk full, the trace at the path is being recorded or read right
// now), invalidInput (the path is another program's file or no file at all; options out of range).
Result<std::unique_ptr<TraceSink>> createTrace(const std::string& path, StoreOptions options = {});

}  // namespace pitwall
