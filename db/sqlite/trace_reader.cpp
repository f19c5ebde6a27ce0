#include "db/sqlite/trace_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "db/meta.h"
#include "db/sqlite/sql_query.h"
#include "db/try.h"

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

Status TraceReader::appendEvents(std::size_t chunk, Scratch& scratch, std::vector<Event>& events) {
  std::array<std::span<const std::int64_t>, kEventColumns> columns;
  for (int i = 0; i < kEventColumns; ++i) {
    const auto at = static_cast<EventColumn>(i);
    columns[static_cast<std::size_t>(i)] =
        PITWALL_TRY(scanColumn(*data_, chunk, at, scratch[static_cast<std::size_t>(i)]));
  }
  const auto value = [&columns](EventColumn at, std::size_t row) {
    return columns[static_cast<std::size_t>(at)][row];
  };
  for (std::size_t i = 0; i < columns[0].size(); ++i) {
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
  // Bounded, since the counts come from the file.
  events.reserve(static_cast<std::size_t>(std::min<std::int64_t>(rows, 1 << 24)));
  Scratch scratch;
  for (const std::uint32_t index : data_->events().ofTrack(track.value)) {
    PITWALL_TRY(appendEvents(index, scratch, events));
  }
  // Chunks of one track overlap where an event ended in a later commit than those it encloses.
  const auto before = [](const Event& a, const Event& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.depth < b.depth;
  };
  if (!std::is_sorted(events.begin(), events.end(), before))
    std::stable_sort(events.begin(), events.end(), before);
  return events;
}

namespace {

struct Field {
  EventFields field;
  EventColumn column;
  std::span<const std::int64_t> EventSpans::*span;
};
constexpr Field kFields[] = {
    {kStart, EventColumn::start, &EventSpans::start_ns},
    {kDur, EventColumn::dur, &EventSpans::dur_ns},
    {kPushed, EventColumn::pushed_before, &EventSpans::pushed_ns},
    {kReady, EventColumn::ready_before, &EventSpans::ready_ns},
    {kCorrelation, EventColumn::correlation, &EventSpans::correlation},
    {kValue, EventColumn::value, &EventSpans::value},
    {kName, EventColumn::name, &EventSpans::name},
    {kOperator, EventColumn::op, &EventSpans::op},
    {kKernel, EventColumn::kernel, &EventSpans::kernel},
    {kArgs, EventColumn::args, &EventSpans::args},
    {kKind, EventColumn::kind, &EventSpans::kind},
    {kDepth, EventColumn::depth, &EventSpans::depth},
};

// Whether a chunk with that key range may hold one of these; an empty list matches all. Keys are stored as
// signed integers: a range that begins below zero may hold anything.
bool mayHold(std::span<const CorrelationId> wanted, const KeyRange& keys) {
  if (wanted.empty() || keys.least < 0) return true;
  const auto least = static_cast<CorrelationId>(keys.least),
             greatest = static_cast<CorrelationId>(keys.greatest);
  if (wanted.back() < least || wanted.front() > greatest) return false;
  return *std::ranges::lower_bound(wanted, least) <= greatest;
}

}  // namespace

Result<bool> TraceReader::visitChunk(std::size_t chunk, const EventSelection& selection,
                                     const EventVisitor& visitor, Scratch& scratch) {
  const ChunkSummary& summary = data_->events().summaries()[chunk];
  std::size_t from = 0, to = static_cast<std::size_t>(summary.count);
  // The starts of a chunk within the range are read only if requested.
  const bool partly =
      summary.time_ns.least < selection.from_ns || summary.time_ns.greatest >= selection.to_ns;
  const bool before_start = (selection.fields & (kPushed | kReady)) != 0;
  std::span<const std::int64_t> starts;
  if (partly || before_start || (selection.fields & kStart) != 0) {
    starts = PITWALL_TRY(scanColumn(*data_, chunk, EventColumn::start, scratch[0]));
  }
  if (partly) {
    TimeNs reach = 0;  // an event that starts earlier ends before the range
    if (__builtin_sub_overflow(selection.from_ns, std::max<TimeNs>(0, summary.max_dur_ns), &reach))
      reach = std::numeric_limits<TimeNs>::min();
    if (selection.starting) reach = selection.from_ns;
    from = static_cast<std::size_t>(std::ranges::lower_bound(starts, reach) - starts.begin());
    to = static_cast<std::size_t>(std::ranges::lower_bound(starts, selection.to_ns) - starts.begin());
    if (from >= to) return true;
  }
  EventSpans spans;
  spans.first_id = summary.id + static_cast<std::int64_t>(from);
  spans.size = to - from;
  for (const Field& field : kFields) {
    if ((selection.fields & field.field) == 0) continue;
    std::vector<std::int64_t>& memory = scratch[static_cast<std::size_t>(field.column)];
    auto read = PITWALL_TRY(field.field == kStart ? Result<std::span<const std::int64_t>>(starts)
                                                  : scanColumn(*data_, chunk, field.column, memory));
    if (field.field == kPushed || field.field == kReady) {
      memory.resize(read.size());  // the span may be the cache's own
      for (std::size_t i = 0; i < read.size(); ++i) memory[i] = wrappingMinus(starts[i], read[i]);
      read = memory;
    }
    spans.*field.span = read.subspan(from, to - from);
  }
  return visitor(spans);
}

Status TraceReader::eventColumns(const EventSelection& selection, const EventVisitor& visitor) {
  Scratch scratch;
  for (const std::uint32_t index : data_->events().ofTrack(selection.track.value)) {
    const ChunkSummary& summary = data_->events().summaries()[index];
    if (summary.time_ns.least >= selection.to_ns || summary.time_ns.greatest < selection.from_ns) continue;
    if (!mayHold(selection.correlations, summary.keys[0])) continue;
    const bool more = PITWALL_TRY(visitChunk(index, selection, visitor, scratch));
    if (!more) break;
  }
  return {};
}

Result<std::vector<EventBin>> TraceReader::eventBins(const BinRequest& request) {
  constexpr int kMostBins = 1 << 20;
  if (request.from_ns >= request.to_ns || request.bins < 1 || request.bins > kMostBins) {
    return fail(
        ErrorCode::invalidInput,
        fmt::format(
            "cannot divide {} ns to {} ns into {} bins: give a range that is not empty and 1 to {} bins",
            request.from_ns, request.to_ns, request.bins, kMostBins));
  }
  EventPyramid* pyramid = PITWALL_TRY(data_->pyramid(request.track.value));
  return pyramid->bins(request);
}

Status TraceReader::visitDependencies(const DependencySelection& selection,
                                      const DependencyVisitor& visitor) {
  ChunkTable& table = data_->dependencies();
  std::array<std::vector<std::int64_t>, kDependencyColumns> scratch;
  std::vector<Dependency> dependencies;
  for (std::size_t index = 0; index < table.summaries().size(); ++index) {
    if (!mayHold(selection.targets, table.summaries()[index].keys[1])) continue;
    std::array<std::span<const std::int64_t>, kDependencyColumns> columns;
    for (int i = 0; i < kDependencyColumns; ++i) {
      columns[static_cast<std::size_t>(i)] =
          PITWALL_TRY(table.scan(index, i, scratch[static_cast<std::size_t>(i)]));
    }
    dependencies.clear();
    for (std::size_t i = 0; i < columns[0].size(); ++i) {
      dependencies.push_back({.source = static_cast<CorrelationId>(columns[0][i]),
                              .target = static_cast<CorrelationId>(columns[1][i]),
                              .kind = static_cast<DependencyKind>(columns[2][i])});
    }
    if (!visitor(dependencies)) break;
  }
  return {};
}

Status TraceReader::visitCounters(TrackId track, const CounterVisitor& visitor) {
  ChunkTable& table = data_->counters();
  std::vector<std::int64_t> time_scratch, value_scratch;
  std::vector<CounterSample> samples;
  for (const std::uint32_t index : table.ofTrack(track.value)) {
    const auto times = PITWALL_TRY(table.scan(index, static_cast<int>(CounterColumn::time), time_scratch));
    const auto values = PITWALL_TRY(table.scan(index, static_cast<int>(CounterColumn::value), value_scratch));
    samples.clear();
    for (std::size_t i = 0; i < times.size(); ++i)
      samples.push_back({.time_ns = times[i], .value = std::bit_cast<double>(values[i])});
    if (!visitor(samples)) break;
  }
  return {};
}

namespace {

// All rows of a table, whose count comes from the file.
template <class Row, class Visit>
Result<std::vector<Row>> gather(std::int64_t rows, Visit visit) {
  std::vector<Row> all;
  all.reserve(static_cast<std::size_t>(std::min<std::int64_t>(rows, 1 << 24)));
  Status status = visit([&all](std::span<const Row> some) {
    all.insert(all.end(), some.begin(), some.end());
    return true;
  });
  PITWALL_TRY(status);
  return all;
}

}  // namespace

Result<std::vector<Dependency>> TraceReader::dependencies() {
  return gather<Dependency>(data_->dependencies().rows(),
                            [this](const DependencyVisitor& visitor) { return visitDependencies(visitor); });
}

Result<std::vector<CounterSample>> TraceReader::counters(TrackId track) {
  auto samples = PITWALL_TRY(
      gather<CounterSample>(0, [&](const CounterVisitor& visitor) { return visitCounters(track, visitor); }));
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

std::shared_ptr<void> TraceReader::hold() {
  // Within a transaction SQLite keeps the lock of the first statement. Where none can be begun, each
  // statement locks separately.
  if (!data_->connection().execute("BEGIN").has_value()) return nullptr;
  return {this, [this](void*) { (void)data_->connection().execute("COMMIT"); }};
}

}  // namespace pitwall::store
