#include "db/sqlite/append_trace.h"

#include <fmt/format.h>

#include <utility>

#include "db/sqlite/batch_writer.h"
#include "db/sqlite/trace_writer.h"
#include "db/store.h"
#include "db/try.h"

namespace pitwall::store {

namespace {

// One number per track, from a table with columns (track, number).
Status perTrack(Connection& connection, std::string_view sql, std::vector<std::int64_t>& into) {
  Statement statement = PITWALL_TRY(connection.prepare(sql));
  while (true) {
    const bool row = PITWALL_TRY(statement.step());
    if (!row) return {};
    const std::int64_t track = statement.integer(0);
    if (track >= 1 && track <= static_cast<std::int64_t>(into.size()))
      into[static_cast<std::size_t>(track - 1)] = statement.integer(1);
  }
}

Result<NextRows> nextRows(Connection& connection) {
  NextRows next;
  struct Of {
    const char* table;
    const char* count;
    std::int64_t& into;
  };
  for (const Of& of : {Of{"event_chunk", "event_count", next.event},
                       Of{"dependency_chunk", "dependency_count", next.dependency},
                       Of{"counter_chunk", "sample_count", next.sample}}) {
    of.into = PITWALL_TRY(
        connection.integer(fmt::format("SELECT coalesce(max(id + {}), 1) FROM {}", of.count, of.table)));
  }
  return next;
}

}  // namespace

Result<Appending> appendTrace(const std::string& path) {
  Connection connection = PITWALL_TRY(Connection::open(path, OpenMode::readWrite));
  Appending made;
  made.existing = PITWALL_TRY(loadDimensions(connection));
  made.events.resize(made.existing.tracks.size());
  made.last_sample_ns.resize(made.existing.tracks.size(), -1);
  PITWALL_TRY(perTrack(connection, "SELECT track_id, sum(event_count) FROM event_chunk GROUP BY track_id",
                       made.events));
  PITWALL_TRY(perTrack(connection, "SELECT track_id, max(last_time_ns) FROM counter_chunk GROUP BY track_id",
                       made.last_sample_ns));
  NextRows next = PITWALL_TRY(nextRows(connection));
  made.dependencies = next.dependency - 1;
  std::unique_ptr<BatchWriter> writer = PITWALL_TRY(
      BatchWriter::create(std::move(connection), static_cast<std::size_t>(StoreOptions().chunk_events)));
  writer->continueAt({made.existing.strings.size(), made.existing.facts.size(), made.existing.kernels.size()},
                     next);
  auto sink = std::make_unique<TraceWriter>(std::move(writer), path);
  sink->continueAt(made.existing);
  made.sink = std::move(sink);
  return made;
}

}  // namespace pitwall::store
