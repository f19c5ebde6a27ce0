// Cuts events, dependencies and samples into chunks, encodes their columns and inserts them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "db/event.h"
#include "db/result.h"
#include "db/sqlite/connection.h"

namespace pitwall::store {

// Dimension rows that exist so far, and that events may therefore name.
struct KnownRows {
  std::size_t strings = 0, facts = 0, kernels = 0;
};

class ChunkWriter {
 public:
  // The connection must outlive the writer. `chunk_rows` is at least 1 and at most kMaxChunkRows.
  static Result<ChunkWriter> create(Connection& connection, std::size_t chunk_rows);

  // Sorts `events` by start, outer before inner. Error: internal when an event names a row beyond `known`.
  Status events(TrackId track, std::span<Event> events, const KnownRows& known);
  Status dependencies(std::span<const Dependency> dependencies);
  // Sorts `samples` by time.
  Status counters(TrackId track, std::span<CounterSample> samples);

 private:
  ChunkWriter() = default;
  Status eventChunk(TrackId track, std::span<const Event> events, const KnownRows& known);
  Status dependencyChunk(std::span<const Dependency> dependencies);
  Status counterChunk(TrackId track, std::span<const CounterSample> samples);

  std::size_t chunk_rows_ = 0;
  std::int64_t next_event_ = 1, next_dependency_ = 1, next_sample_ = 1;
  Statement insert_events_, insert_dependencies_, insert_counters_;
  std::vector<std::int64_t> column_;             // scratch
  std::vector<std::vector<std::byte>> encoded_;  // one per column; bound to the statement until it ran
};

}  // namespace pitwall::store
