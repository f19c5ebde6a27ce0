#include "db/sqlite/trace_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

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

namespace {

Result<std::span<const std::int64_t>> checkedIds(TraceData& data, std::int64_t chunk, EventColumn at,
                                                 Result<std::span<const std::int64_t>> ids) {
  if (!ids.has_value()) return ids;
  const Dimensions& dimensions = data.dimensions();
  const std::size_t rows = at == EventColumn::op       ? dimensions.facts.size()
                           : at == EventColumn::kernel ? dimensions.kernels.size()
                                                       : dimensions.strings.size();
  // No early end: so the compiler makes it a few instructions for many rows.
  std::uint64_t greatest = 0;
  for (const std::int64_t id : *ids) greatest = std::max(greatest, static_cast<std::uint64_t>(id));
  if (greatest <= rows) return ids;
  return fail(
      ErrorCode::corruptTrace,
      fmt::format("trace '{}' is damaged: event_chunk {}, column {}: names rows that are not there; record "
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
    Result<std::unique_ptr<EventPyramid>> made = EventPyramid::make(*this, track);
    if (!made.has_value()) return fail(made.error());
    pyramid = std::move(*made);
  }
  return pyramid.get();
}

namespace {

// Appends what the chunk's events cover of the window.
Status appendRanges(TraceData& data, std::size_t chunk, TimeRange window, std::optional<EventKind> kind,
                    std::vector<std::int64_t> (&scratch)[3], std::vector<TimeRange>& ranges) {
  Result<std::span<const std::int64_t>> starts = scanColumn(data, chunk, EventColumn::start, scratch[0]);
  if (!starts.has_value()) return fail(starts.error());
  Result<std::span<const std::int64_t>> durs = scanColumn(data, chunk, EventColumn::dur, scratch[1]);
  if (!durs.has_value()) return fail(durs.error());
  std::span<const std::int64_t> kinds;
  if (kind.has_value()) {
    Result<std::span<const std::int64_t>> read = scanColumn(data, chunk, EventColumn::kind, scratch[2]);
    if (!read.has_value()) return fail(read.error());
    kinds = *read;
  }
  bool open = !ranges.empty();
  TimeRange last;
  if (open) {
    last = ranges.back();
    ranges.pop_back();
  }
  for (std::size_t i = 0; i < starts->size(); ++i) {
    if (kind.has_value() && kinds[i] != static_cast<std::int64_t>(*kind)) continue;
    const TimeRange range{std::max((*starts)[i], window.begin_ns),
                          std::min(cappedEnd((*starts)[i], (*durs)[i]), window.end_ns)};
    if (range.begin_ns >= range.end_ns) continue;
    // Most events lie in or next to the one before: joined here, they need no memory.
    if (open && range.begin_ns >= last.begin_ns && range.begin_ns <= last.end_ns) {
      last.end_ns = std::max(last.end_ns, range.end_ns);
      continue;
    }
    if (open) ranges.push_back(last);
    last = range;
    open = true;
  }
  if (open) ranges.push_back(last);
  return {};
}

}  // namespace

TimeRange extentOf(TraceData& data, std::uint32_t track) {
  TimeRange all{std::numeric_limits<TimeNs>::max(), std::numeric_limits<TimeNs>::min()};
  for (const std::uint32_t index : data.events().ofTrack(track)) {
    const ChunkSummary& summary = data.events().summaries()[index];
    all.begin_ns = std::min(all.begin_ns, summary.time_ns.least);
    all.end_ns = std::max(all.end_ns, summary.time_ns.greatest);
  }
  return all.begin_ns > all.end_ns ? TimeRange{} : all;
}

Result<std::vector<TimeRange>> coveredRanges(TraceData& data, std::uint32_t track, TimeRange window,
                                             std::optional<EventKind> kind) {
  std::vector<TimeRange> ranges;
  std::vector<std::int64_t> scratch[3];
  for (const std::uint32_t index : data.events().ofTrack(track)) {
    const ChunkSummary& summary = data.events().summaries()[index];
    if (summary.time_ns.least >= window.end_ns || summary.time_ns.greatest <= window.begin_ns) continue;
    if (Status status = appendRanges(data, index, window, kind, scratch, ranges); !status.has_value())
      return fail(status.error());
  }
  const auto before = [](const TimeRange& a, const TimeRange& b) { return a.begin_ns < b.begin_ns; };
  if (!std::is_sorted(ranges.begin(), ranges.end(), before)) std::sort(ranges.begin(), ranges.end(), before);
  // Joined in place: there are never more.
  std::size_t kept = 0;
  for (const TimeRange& range : ranges) {
    if (kept > 0 && range.begin_ns <= ranges[kept - 1].end_ns) {
      ranges[kept - 1].end_ns = std::max(ranges[kept - 1].end_ns, range.end_ns);
    } else {
      ranges[kept++] = range;
    }
  }
  ranges.resize(kept);
  return ranges;
}

}  // namespace pitwall::store
