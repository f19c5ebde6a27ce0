#include "db/sqlite/append_trace.h"

#include <fmt/format.h>

#include <utility>

#include "db/sqlite/batch_writer.h"
#include "db/sqlite/trace_writer.h"
#include "db/store.h"

namespace pitwall::store {

namespace {

// One number per track, from a table with columns (track, number).
Status perTrack(Connection& connection, std::string_view sql, std::vector<std::int64_t>& into) {
  Result<Statement> statement = connection.prepare(sql);
  if (!statement.has_value()) return fail(statement.error());
  while (true) {
    Result<bool> row = statement->step();
    if (!row.has_value()) return fail(row.error());
    if (!*row) return {};
    const std::int64_t track = statement->integer(0);
    if (track >= 1 && track <= static_cast<std::int64_t>(into.size()))
      into[static_cast<std::size_t>(track - 1)] = statement->integer(1);
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
    Result<std::int64_t> id =
        connection.integer(fmt::format("SELECT coalesce(max(id + {}), 1) FROM {}", of.count, of.table));
    if (!id.has_value()) return fail(id.error());
    of.into = *id;
  }
  return next;
}

}  // namespace

Result<Appending> appendTrace(const std::string& path) {
  Result<Connection> connection = Connection::open(path, OpenMode::readWrite);
  if (!connection.has_value()) return fail(connection.error());
  Result<Dimensions> existing = loadDimensions(*connection);
  if (!existing.has_value()) return fail(existing.error());
  Appending made;
  made.existing = std::move(*existing);
  made.events.resize(made.existing.tracks.size());
  made.last_sample_ns.resize(made.existing.tracks.size(), -1);
  Status status = perTrack(
      *connection, "SELECT track_id, sum(event_count) FROM event_chunk GROUP BY track_id", made.events);
  if (status.has_value()) {
    status = perTrack(*connection, "SELECT track_id, max(last_time_ns) FROM counter_chunk GROUP BY track_id",
                      made.last_sample_ns);
  }
  if (!status.has_value()) return fail(status.error());
  Result<NextRows> next = nextRows(*connection);
  if (!next.has_value()) return fail(next.error());
  made.dependencies = next->dependency - 1;
  Result<std::unique_ptr<BatchWriter>> writer =
      BatchWriter::create(std::move(*connection), static_cast<std::size_t>(StoreOptions().chunk_events));
  if (!writer.has_value()) return fail(writer.error());
  (*writer)->continueAt(
      {made.existing.strings.size(), made.existing.facts.size(), made.existing.kernels.size()}, *next);
  auto sink = std::make_unique<TraceWriter>(std::move(*writer), path);
  sink->continueAt(made.existing);
  made.sink = std::move(sink);
  return made;
}

}  // namespace pitwall::store
