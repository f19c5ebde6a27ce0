// Writes a trace file (NAME.pitwall, one SQLite database; layout in db/schema/schema.sql).
#pragma once

#include <memory>
#include <string>

#include "db/result.h"
#include "db/sink.h"

namespace pitwall {

struct StoreOptions {
  // Replace an existing file. A file that is not a Pitwall trace is never replaced.
  bool overwrite = true;
  // Events of a track that make a chunk; a chunk is also cut at every flush.
  int chunk_events = 8192;
};

// Creates the file and returns a sink that writes it from a thread of its own. The sink's calls only copy.
// Errors: io (folder missing, not writable, disk full), invalidInput (path is another program's file).
// A process killed at any moment leaves a file that openTrace reads up to the last flush, marked incomplete.
Result<std::unique_ptr<TraceSink>> createTrace(const std::string& path, StoreOptions options = {});

}  // namespace pitwall
