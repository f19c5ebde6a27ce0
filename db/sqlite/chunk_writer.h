// Splits events, dependencies and samples into chunks, encodes their columns and inserts them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "db/event.h"
#include "db/result.h"
#include "db/sqlite/column_codec.h"
#include "db/sqlite/connection.h"
#include "db/sqlite/event_blocks.h"
#include "db/sqlite/event_summary.h"

namespace pitwall::store {

// Dimension rows that exist so far and that events may refer to.
struct KnownRows {
  std::size_t strings = 0, facts = 0, kernels = 0;
};

// Ids of the rows that chunks continue with.
struct NextRows {
  std::int64_t event = 1, dependency = 1, sample = 1;
};

class ChunkWriter {
 public:
  // The connection must outlive the writer. `chunk_rows` is at least 1 and at most kMaxChunkRows.
  static Result<ChunkWriter> create(Connection& connection, std::size_t chunk_rows);
  void continueAt(const NextRows& next) {
    next_event_ = next.event;
    next_dependency_ = next.dependency;
    next_sample_ = next.sample;
  }

  // Orders the events by start, outer before inner. Error: internal when one refers to a row beyond `known`.
  Status events(TrackId track, EventBlocks& events, const KnownRows& known);
  Status dependencies(std::span<const Dependency> dependencies);
  // Sorts `samples` by time.
  Status counters(TrackId track, std::span<CounterSample> samples);

 private:
  struct Extremes {
    std::int64_t least = 0;
    std::int64_t greatest = 0;
  };
  ChunkWriter() = default;
  template <class Row, class... Get>
  void gather(std::span<const Row> rows, std::size_t first, Get... gets);
  Extremes encode(std::size_t column, ColumnShape shape);
  Status eventChunks(TrackId track, std::span<const Event> events, const KnownRows& known);  // sorted
  Status eventChunk(TrackId track, std::span<const Event> events, const KnownRows& known);
  Status eventSummary(std::int64_t chunk);  // of the events whose columns were encoded last
  Status dependencyChunk(std::span<const Dependency> dependencies);
  Status counterChunk(TrackId track, std::span<const CounterSample> samples);

  std::size_t chunk_rows_ = 0;
  std::int64_t next_event_ = 1, next_dependency_ = 1, next_sample_ = 1;
  Statement insert_events_, insert_dependencies_, insert_counters_;
  std::vector<Event> gathered_;  // scratch
  ColumnEncoder encoder_;
  EventSummaryWriter summaries_;
  // One per column of events, then of dependencies; samples use the first again.
  std::vector<std::vector<std::int64_t>> columns_;
  std::vector<std::vector<std::byte>> encoded_;  // bound to the statement until it ran
  std::vector<ColumnEncoder::Experience> experience_;
};

}  // namespace pitwall::store
