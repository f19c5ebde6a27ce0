#include "db/sqlite/trace_data.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <limits>

#include "db/sqlite/authorizer.h"
#include "db/sqlite/virtual_tables.h"
#include "db/try.h"

namespace pitwall::store {

namespace {

constexpr ChunkTable::Layout kEventLayout = {
    .table = "event_chunk",
    .summary_sql =
        "SELECT id, track_id, event_count, first_start_ns, last_end_ns, max_dur_ns, min_correlation,"
        " max_correlation, 0, 0 FROM event_chunk ORDER BY id",
    .columns = kEventColumnNames};
constexpr ChunkTable::Layout kDependencyLayout = {
    .table = "dependency_chunk",
    .summary_sql =
        "SELECT id, 0, dependency_count, 0, 0, 0, min_source, max_source, min_target, max_target"
        " FROM dependency_chunk ORDER BY id",
    .columns = kDependencyColumnNames};
constexpr ChunkTable::Layout kCounterLayout = {
    .table = "counter_chunk",
    .summary_sql =
        "SELECT id, track_id, sample_count, first_time_ns, last_time_ns, 0, 0, 0, 0, 0"
        " FROM counter_chunk ORDER BY id",
    .columns = kCounterColumnNames};

}  // namespace

void FinalizeStatement::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Result<std::unique_ptr<TraceData>> TraceData::load(Connection connection) {
  std::unique_ptr<TraceData> data(new TraceData(std::move(connection)));
  Connection& c = data->connection_;
  // The file is untrusted, and so is its schema. Temp tables stay in memory.
  PITWALL_TRY(
      c.execute("PRAGMA trusted_schema=OFF; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-65536; BEGIN;"));
  PITWALL_TRY(data->loadAll());
  PITWALL_TRY(c.execute("COMMIT"));
  PITWALL_TRY(registerVirtualTables(*data));
  installAuthorizer(*data);
  return data;
}

Result<std::unique_ptr<TraceData>> TraceData::attach(Connection connection) {
  std::unique_ptr<TraceData> data(new TraceData(std::move(connection)));
  data->borrowed = true;
  PITWALL_TRY(data->loadAll());
  return data;
}

void TraceData::releaseStatements() {
  last_statement_ = {};
  for (const auto* table : {&events_, &dependencies_, &counters_}) (*table)->releaseStatements();
  event_summaries_.releaseStatements();
}

Status TraceData::loadAll() {
  dimensions_ = PITWALL_TRY(loadDimensions(connection_));
  struct Load {
    const ChunkTable::Layout& layout;
    std::unique_ptr<ChunkTable>& into;
  };
  for (const Load& l : {Load{kEventLayout, events_}, Load{kDependencyLayout, dependencies_},
                        Load{kCounterLayout, counters_}}) {
    l.into = PITWALL_TRY(ChunkTable::load(connection_, l.layout));
    for (const ChunkSummary& summary : l.into->summaries()) {
      if (summary.track > dimensions_.tracks.size()) {
        return fail(
            ErrorCode::corruptTrace,
            fmt::format("trace '{}' is damaged: {} {} is of track {}, which does not exist; record again, or "
                        "restore a copy",
                        connection_.path(), l.layout.table, summary.id, summary.track));
      }
    }
  }
  return {};
}

std::optional<std::uint32_t> TraceData::findString(std::string_view text) {
  if (string_ids_.empty()) {
    std::uint32_t id = 0;
    for (const std::string& string : dimensions_.strings) string_ids_.emplace(string, ++id);
  }
  const auto found = string_ids_.find(text);
  return found == string_ids_.end() ? std::nullopt : std::optional(found->second);
}

namespace {

Result<std::span<const std::int64_t>> checkedIds(TraceData& data, std::int64_t chunk, EventColumn at,
                                                 Result<std::span<const std::int64_t>> ids) {
  if (!ids.has_value()) return ids;
  const Dimensions& dimensions = data.dimensions();
  const std::size_t rows = at == EventColumn::op       ? dimensions.facts.size()
                           : at == EventColumn::kernel ? dimensions.kernels.size()
                                                       : dimensions.strings.size();
  // No early exit, so that the compiler vectorizes it.
  std::uint64_t greatest = 0;
  for (const std::int64_t id : *ids) greatest = std::max(greatest, static_cast<std::uint64_t>(id));
  if (greatest <= rows) return ids;
  return fail(
      ErrorCode::corruptTrace,
      fmt::format(
          "trace '{}' is damaged: event_chunk {}, column {}: refers to rows that do not exist; record "
          "again, or restore a copy",
          data.connection().path(), chunk, kEventColumnNames[static_cast<std::size_t>(at)]));
}

}  // namespace

Result<std::span<const std::int64_t>> idColumn(TraceData& data, Chunk& chunk, EventColumn at) {
  return checkedIds(data, chunk.summary().id, at, column(chunk, at));
}

Result<std::span<const std::int64_t>> scanColumn(TraceData& data, std::size_t chunk, EventColumn at,
                                                 std::vector<std::int64_t>& scratch) {
  Result<std::span<const std::int64_t>> values = data.events().scan(chunk, static_cast<int>(at), scratch);
  return isIdColumn(at) ? checkedIds(data, data.events().summaries()[chunk].id, at, std::move(values))
                        : values;
}

Result<EventPyramid*> TraceData::pyramid(std::uint32_t track) {
  std::unique_ptr<EventPyramid>& pyramid = pyramids_[track];
  if (pyramid == nullptr) {
    pyramid = PITWALL_TRY(EventPyramid::make(*this, track));
  }
  return pyramid.get();
}

}  // namespace pitwall::store
