#include "db/sqlite/trace_data.h"

#include <fmt/format.h>

#include <algorithm>

#include "db/sqlite/authorizer.h"
#include "db/sqlite/virtual_tables.h"

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

Result<std::unique_ptr<TraceData>> TraceData::load(Connection connection) {
  std::unique_ptr<TraceData> data(new TraceData(std::move(connection)));
  Connection& c = data->connection_;
  // A file may come from anyone: its schema gets no trust. Temp tables stay in memory.
  Status status =
      c.execute("PRAGMA trusted_schema=OFF; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-65536; BEGIN;");
  if (status.has_value()) status = data->loadAll();
  if (status.has_value()) status = c.execute("COMMIT");
  if (status.has_value()) status = registerVirtualTables(*data);
  if (!status.has_value()) return fail(status.error());
  installAuthorizer(*data);
  return data;
}

Status TraceData::loadAll() {
  Result<Dimensions> dimensions = loadDimensions(connection_);
  if (!dimensions.has_value()) return fail(dimensions.error());
  dimensions_ = std::move(*dimensions);
  struct Load {
    const ChunkTable::Layout& layout;
    std::unique_ptr<ChunkTable>& into;
  };
  for (const Load& l : {Load{kEventLayout, events_}, Load{kDependencyLayout, dependencies_},
                        Load{kCounterLayout, counters_}}) {
    Result<std::unique_ptr<ChunkTable>> table = ChunkTable::load(connection_, l.layout);
    if (!table.has_value()) return fail(table.error());
    l.into = std::move(*table);
    for (const ChunkSummary& summary : l.into->summaries()) {
      if (summary.track > dimensions_.tracks.size()) {
        return fail(
            ErrorCode::corruptTrace,
            fmt::format("trace '{}' is damaged: {} {} is of track {}, which is not there; record again, or "
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

Result<std::span<const std::int64_t>> idColumn(TraceData& data, Chunk& chunk, EventColumn at) {
  Result<std::span<const std::int64_t>> ids = column(chunk, at);
  if (!ids.has_value()) return ids;
  const Dimensions& dimensions = data.dimensions();
  const std::size_t rows = at == EventColumn::op       ? dimensions.facts.size()
                           : at == EventColumn::kernel ? dimensions.kernels.size()
                                                       : dimensions.strings.size();
  const bool inside = std::all_of(ids->begin(), ids->end(), [rows](std::int64_t id) {
    return id >= 0 && id <= static_cast<std::int64_t>(rows);
  });
  if (inside) return ids;
  return fail(
      ErrorCode::corruptTrace,
      fmt::format("trace '{}' is damaged: event_chunk {}, column {}: names rows that are not there; record "
                  "again, or restore a copy",
                  data.connection().path(), chunk.summary().id,
                  kEventColumnNames[static_cast<std::size_t>(at)]));
}

namespace {

// Appends what the chunk's events cover of the window.
Status appendRanges(Chunk& chunk, TimeRange window, std::optional<EventKind> kind,
                    std::vector<TimeRange>& ranges) {
  Result<std::span<const std::int64_t>> starts = column(chunk, EventColumn::start);
  if (!starts.has_value()) return fail(starts.error());
  Result<std::span<const std::int64_t>> durs = column(chunk, EventColumn::dur);
  if (!durs.has_value()) return fail(durs.error());
  std::span<const std::int64_t> kinds;
  if (kind.has_value()) {
    Result<std::span<const std::int64_t>> read = column(chunk, EventColumn::kind);
    if (!read.has_value()) return fail(read.error());
    kinds = *read;
  }
  for (std::size_t i = 0; i < chunk.rows(); ++i) {
    if (kind.has_value() && kinds[i] != static_cast<std::int64_t>(*kind)) continue;
    const TimeRange range{std::max((*starts)[i], window.begin_ns),
                          std::min(cappedEnd((*starts)[i], (*durs)[i]), window.end_ns)};
    if (range.begin_ns >= range.end_ns) continue;
    // Most events lie in or next to the one before: joined here, they need no memory.
    if (!ranges.empty() && range.begin_ns >= ranges.back().begin_ns &&
        range.begin_ns <= ranges.back().end_ns) {
      ranges.back().end_ns = std::max(ranges.back().end_ns, range.end_ns);
    } else {
      ranges.push_back(range);
    }
  }
  return {};
}

}  // namespace

Result<std::vector<TimeRange>> coveredRanges(TraceData& data, std::uint32_t track, TimeRange window,
                                             std::optional<EventKind> kind) {
  std::vector<TimeRange> ranges;
  for (const std::uint32_t index : data.events().ofTrack(track)) {
    const ChunkSummary& summary = data.events().summaries()[index];
    if (summary.time_ns.least >= window.end_ns || summary.time_ns.greatest <= window.begin_ns) continue;
    const std::shared_ptr<Chunk> chunk = data.events().chunk(index);
    if (Status status = appendRanges(*chunk, window, kind, ranges); !status.has_value())
      return fail(status.error());
  }
  const auto before = [](const TimeRange& a, const TimeRange& b) { return a.begin_ns < b.begin_ns; };
  if (!std::is_sorted(ranges.begin(), ranges.end(), before)) std::sort(ranges.begin(), ranges.end(), before);
  std::vector<TimeRange> merged;
  for (const TimeRange& range : ranges) {
    if (!merged.empty() && range.begin_ns <= merged.back().end_ns) {
      merged.back().end_ns = std::max(merged.back().end_ns, range.end_ns);
    } else {
      merged.push_back(range);
    }
  }
  return merged;
}

}  // namespace pitwall::store
