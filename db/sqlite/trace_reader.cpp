#include "db/sqlite/trace_reader.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "db/meta.h"
#include "db/sqlite/sql_query.h"

namespace pitwall::store {

TraceReader::TraceReader(std::string path, TempCopy copy, std::unique_ptr<TraceData> data)
    : path_(std::move(path)), copy_(std::move(copy)), data_(std::move(data)) {}

bool TraceReader::isComplete() const { return meta(meta::kComplete) == "1"; }

std::optional<std::string> TraceReader::meta(const std::string& key) const {
  const auto found = data_->dimensions().meta.find(key);
  return found == data_->dimensions().meta.end() ? std::nullopt : std::optional(found->second);
}

const std::string& TraceReader::string(StringId id) const {
  static const std::string none;
  const std::vector<std::string>& strings = data_->dimensions().strings;
  return id && id.value <= strings.size() ? strings[id.value - 1] : none;
}

Status TraceReader::appendEvents(Chunk& chunk, std::vector<Event>& events) {
  std::array<std::span<const std::int64_t>, kEventColumns> columns;
  for (int i = 0; i < kEventColumns; ++i) {
    const auto at = static_cast<EventColumn>(i);
    auto read = isIdColumn(at) ? idColumn(*data_, chunk, at) : column(chunk, at);
    if (!read.has_value()) return fail(read.error());
    columns[static_cast<std::size_t>(i)] = *read;
  }
  const auto value = [&columns](EventColumn at, std::size_t row) {
    return columns[static_cast<std::size_t>(at)][row];
  };
  for (std::size_t i = 0; i < chunk.rows(); ++i) {
    const TimeNs start = value(EventColumn::start, i);
    events.push_back({.start_ns = start,
                      .dur_ns = value(EventColumn::dur, i),
                      .pushed_ns = wrappingMinus(start, value(EventColumn::pushed_before, i)),
                      .ready_ns = wrappingMinus(start, value(EventColumn::ready_before, i)),
                      .correlation = static_cast<CorrelationId>(value(EventColumn::correlation, i)),
                      .value = value(EventColumn::value, i),
                      .name = StringId{static_cast<std::uint32_t>(value(EventColumn::name, i))},
                      .op = OperatorId{static_cast<std::uint32_t>(value(EventColumn::op, i))},
                      .kernel = KernelId{static_cast<std::uint32_t>(value(EventColumn::kernel, i))},
                      .args = StringId{static_cast<std::uint32_t>(value(EventColumn::args, i))},
                      .kind = static_cast<EventKind>(value(EventColumn::kind, i)),
                      .depth = static_cast<std::uint16_t>(value(EventColumn::depth, i))});
  }
  return {};
}

Result<std::vector<Event>> TraceReader::events(TrackId track) {
  std::vector<Event> events;
  std::int64_t rows = 0;
  for (const std::uint32_t index : data_->events().ofTrack(track.value))
    rows += data_->events().summaries()[index].count;
  // Bounded, as the counts are the file's word.
  events.reserve(static_cast<std::size_t>(std::min<std::int64_t>(rows, 1 << 24)));
  for (const std::uint32_t index : data_->events().ofTrack(track.value)) {
    const std::shared_ptr<Chunk> chunk = data_->events().chunk(index);
    if (Status status = appendEvents(*chunk, events); !status.has_value()) return fail(status.error());
  }
  // Chunks of one track overlap where an event ended in a later commit than those it encloses.
  const auto before = [](const Event& a, const Event& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.depth < b.depth;
  };
  if (!std::is_sorted(events.begin(), events.end(), before))
    std::stable_sort(events.begin(), events.end(), before);
  return events;
}

Result<std::vector<Dependency>> TraceReader::dependencies() {
  std::vector<Dependency> dependencies;
  ChunkTable& table = data_->dependencies();
  dependencies.reserve(static_cast<std::size_t>(std::min<std::int64_t>(table.rows(), 1 << 24)));
  for (std::size_t index = 0; index < table.summaries().size(); ++index) {
    const std::shared_ptr<Chunk> chunk = table.chunk(index);
    std::array<std::span<const std::int64_t>, kDependencyColumns> columns;
    for (int i = 0; i < kDependencyColumns; ++i) {
      auto read = chunk->column(i);
      if (!read.has_value()) return fail(read.error());
      columns[static_cast<std::size_t>(i)] = *read;
    }
    for (std::size_t i = 0; i < chunk->rows(); ++i) {
      dependencies.push_back({.source = static_cast<CorrelationId>(columns[0][i]),
                              .target = static_cast<CorrelationId>(columns[1][i]),
                              .kind = static_cast<DependencyKind>(columns[2][i])});
    }
  }
  return dependencies;
}

Result<std::vector<CounterSample>> TraceReader::counters(TrackId track) {
  std::vector<CounterSample> samples;
  for (const std::uint32_t index : data_->counters().ofTrack(track.value)) {
    const std::shared_ptr<Chunk> chunk = data_->counters().chunk(index);
    auto times = chunk->column(static_cast<int>(CounterColumn::time));
    if (!times.has_value()) return fail(times.error());
    auto values = chunk->column(static_cast<int>(CounterColumn::value));
    if (!values.has_value()) return fail(values.error());
    for (std::size_t i = 0; i < chunk->rows(); ++i)
      samples.push_back({.time_ns = (*times)[i], .value = std::bit_cast<double>((*values)[i])});
  }
  std::stable_sort(samples.begin(), samples.end(),
                   [](const CounterSample& a, const CounterSample& b) { return a.time_ns < b.time_ns; });
  return samples;
}

Result<SqlRows> TraceReader::query(const std::string& sql, std::span<const SqlParameter> parameters) {
  return runQuery(*data_, sql, parameters);
}

Status TraceReader::visit(const std::string& sql, std::span<const SqlParameter> parameters,
                          SqlVisitor& visitor) {
  return visitQuery(*data_, sql, parameters, visitor);
}

Status TraceReader::insertTemp(const std::string& table, std::span<const std::vector<SqlValue>> rows) {
  return insertTempRows(*data_, table, rows);
}

}  // namespace pitwall::store
