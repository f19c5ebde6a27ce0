// Writes batches into a trace file, each in one transaction, and closes the file as complete.
#pragma once

#include <cstddef>
#include <memory>

#include "db/result.h"
#include "db/sqlite/batch.h"
#include "db/sqlite/chunk_writer.h"
#include "db/sqlite/connection.h"

namespace pitwall::store {

class BatchWriter {
 public:
  // Takes a connection to an empty trace in WAL mode.
  static Result<std::unique_ptr<BatchWriter>> create(Connection connection, std::size_t chunk_rows);

  // For a trace that is not empty: the rows it has, and the ids of its next chunks.
  void continueAt(const KnownRows& rows, const NextRows& next) {
    rows_ = rows;
    chunks_->continueAt(next);
  }

  // Writes the whole batch or, on an error, nothing. Sorts the batch's events in place.
  Status write(Batch& batch);

  // Marks the trace complete and leaves one file without log, readable from a folder that cannot be written.
  // If a reader has the file open, the log stays; the trace is still complete.
  Status finish();

 private:
  explicit BatchWriter(Connection connection) : connection_(std::move(connection)) {}
  Status prepareAll();
  Status writeRows(Batch& batch);
  Status writeDimensions(const Batch& batch);
  Status writeEntities(const Batch& batch);  // processes, threads, devices, tracks
  Status writeFacts(const Batch& batch);     // operator and kernel facts
  Status writeStacks(const Batch& batch);
  Status writeSettings(const Batch& batch);  // meta, settings, tunables
  Status writeMarks(const Batch& batch);     // iterations, losses

  Connection connection_;
  std::unique_ptr<ChunkWriter> chunks_;
  Statement begin_, commit_, rollback_;
  Statement string_, process_, thread_, device_, track_, facts_, kernels_, meta_, setting_, tunable_,
      iteration_, loss_, frame_, stack_;
  KnownRows rows_;  // so far, this batch's included
};

}  // namespace pitwall::store
