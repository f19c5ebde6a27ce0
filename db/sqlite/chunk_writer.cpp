#include "db/sqlite/chunk_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "db/sqlite/chunk_columns.h"
#include "db/try.h"

namespace pitwall::store {

namespace {

constexpr char kInsertEvents[] =
    "INSERT INTO event_chunk(id, track_id, first_start_ns, last_end_ns, event_count, max_dur_ns, sum_dur_ns,"
    " min_correlation, max_correlation, start, dur, pushed_before, ready_before, correlation, value, name,"
    " operator, kernel, args, kind, depth) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13,"
    " ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)";
constexpr char kInsertDependencies[] =
    "INSERT INTO dependency_chunk(id, dependency_count, min_source, max_source, min_target, max_target, "
    "source, target,"
    " kind) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
constexpr char kInsertCounters[] =
    "INSERT INTO counter_chunk(id, track_id, first_time_ns, last_time_ns, sample_count, min_value, "
    "max_value, time,"
    " value) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

ColumnShape shapeOf(EventColumn column) {
  switch (column) {
    case EventColumn::start:
    case EventColumn::correlation: return ColumnShape::ascending;
    case EventColumn::dur:
    case EventColumn::pushed_before:
    case EventColumn::ready_before: return ColumnShape::scattered;
    default: return ColumnShape::repeating;
  }
}

struct Sums {
  std::int64_t last_end = std::numeric_limits<std::int64_t>::min();
  std::int64_t dur = 0;  // clamped to the range
};

Sums sumsOf(std::span<const std::int64_t> start, std::span<const std::int64_t> dur) {
  Sums sums;
  __extension__ __int128 sum = 0;
  for (std::size_t i = 0; i < start.size(); ++i) {
    // Never less than a start, whatever the duration: so it bounds the starts, too.
    sums.last_end = std::max({sums.last_end, start[i], cappedEnd(start[i], dur[i])});
    sum += dur[i];
  }
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr auto kGreatest = std::numeric_limits<std::int64_t>::max();
  sums.dur = sum > kGreatest ? kGreatest : sum < kLeast ? kLeast : static_cast<std::int64_t>(sum);
  return sums;
}

Status checkKnown(TrackId track, std::int64_t string, std::int64_t facts, std::int64_t kernel,
                  const KnownRows& known) {
  const auto exists = [](std::int64_t id, std::size_t rows) { return id <= static_cast<std::int64_t>(rows); };
  if (exists(string, known.strings) && exists(facts, known.facts) && exists(kernel, known.kernels)) return {};
  return fail(
      ErrorCode::internal,
      fmt::format("an event on track {} names string {} of {}, facts {} of {} and kernel {} of {}: its "
                  "producer used an unknown id",
                  track.value, string, known.strings, facts, known.facts, kernel, known.kernels));
}

}  // namespace

// Fills columns from rows, a few rows at a time, so that the rows are fetched from memory once instead of
// once per column; then encodes them. `gets` are functions of a row, one per column, starting with column
// `first`.
template <class Row, class... Get>
void ChunkWriter::gather(std::span<const Row> rows, std::size_t first, Get... gets) {
  constexpr std::size_t kAtATime = 64;
  for (std::size_t i = 0; i < sizeof...(gets); ++i) columns_[first + i].resize(rows.size());
  for (std::size_t from = 0; from < rows.size(); from += kAtATime) {
    const std::span<const Row> some = rows.subspan(from, std::min(kAtATime, rows.size() - from));
    std::size_t column = first;
    const auto fill = [&](auto get) {
      std::int64_t* const values = columns_[column++].data() + from;
      for (std::size_t i = 0; i < some.size(); ++i) values[i] = get(some[i]);
    };
    (fill(gets), ...);
  }
}

ChunkWriter::Extremes ChunkWriter::encode(std::size_t column, ColumnShape shape) {
  const std::vector<std::int64_t>& values = columns_[column];
  Extremes extremes{values.front(), values.front()};
  // Many columns are constant; checking that is cheaper than finding the extremes.
  std::uint64_t differing = 0;
  for (const std::int64_t value : values) differing |= static_cast<std::uint64_t>(value ^ values.front());
  if (differing != 0) {
    for (const std::int64_t value : values) {
      extremes.least = std::min(extremes.least, value);
      extremes.greatest = std::max(extremes.greatest, value);
    }
  }
  encoder_.encode(values, extremes.least, extremes.greatest, shape, experience_[column], encoded_[column]);
  return extremes;
}

Result<ChunkWriter> ChunkWriter::create(Connection& connection, std::size_t chunk_rows) {
  ChunkWriter writer;
  writer.chunk_rows_ = chunk_rows;
  writer.encoded_.resize(kEventColumns + kDependencyColumns);
  writer.experience_.resize(writer.encoded_.size());
  writer.columns_.resize(writer.encoded_.size());
  writer.summaries_ = PITWALL_TRY(EventSummaryWriter::create(connection));
  struct Prepare {
    const char* sql;
    Statement& into;
  };
  for (const Prepare& p : {Prepare{kInsertEvents, writer.insert_events_},
                           Prepare{kInsertDependencies, writer.insert_dependencies_},
                           Prepare{kInsertCounters, writer.insert_counters_}}) {
    p.into = PITWALL_TRY(connection.prepare(p.sql));
  }
  return writer;
}

Status ChunkWriter::events(TrackId track, EventBlocks& events, const KnownRows& known) {
  const std::span<EventBlock> blocks = events.blocks();
  if (blocks.empty()) return {};
  if (events.isSorted() && (blocks.size() == 1 || chunk_rows_ == kBlockEvents)) {
    for (const EventBlock& block : blocks) {
      PITWALL_TRY(eventChunks(track, block, known));
    }
    return {};
  }
  gathered_.clear();
  gathered_.reserve(events.size());
  for (const EventBlock& block : blocks) gathered_.insert(gathered_.end(), block.begin(), block.end());
  if (!events.isSorted()) std::stable_sort(gathered_.begin(), gathered_.end(), EventBlocks::before);
  return eventChunks(track, gathered_, known);
}

Status ChunkWriter::eventChunks(TrackId track, std::span<const Event> events, const KnownRows& known) {
  for (std::size_t at = 0; at < events.size(); at += chunk_rows_) {
    const std::size_t count = std::min(chunk_rows_, events.size() - at);
    PITWALL_TRY(eventChunk(track, events.subspan(at, count), known));
  }
  return {};
}

Status ChunkWriter::dependencies(std::span<const Dependency> dependencies) {
  for (std::size_t at = 0; at < dependencies.size(); at += chunk_rows_) {
    const std::size_t count = std::min(chunk_rows_, dependencies.size() - at);
    PITWALL_TRY(dependencyChunk(dependencies.subspan(at, count)));
  }
  return {};
}

Status ChunkWriter::counters(TrackId track, std::span<CounterSample> samples) {
  std::stable_sort(samples.begin(), samples.end(),
                   [](const CounterSample& a, const CounterSample& b) { return a.time_ns < b.time_ns; });
  for (std::size_t at = 0; at < samples.size(); at += chunk_rows_) {
    const std::size_t count = std::min(chunk_rows_, samples.size() - at);
    PITWALL_TRY(counterChunk(track, samples.subspan(at, count)));
  }
  return {};
}

Status ChunkWriter::eventChunk(TrackId track, std::span<const Event> events, const KnownRows& known) {
  gather(
      events, 0, [](const Event& e) { return e.start_ns; }, [](const Event& e) { return e.dur_ns; },
      [](const Event& e) { return wrappingMinus(e.start_ns, e.pushed_ns); },
      [](const Event& e) { return wrappingMinus(e.start_ns, e.ready_ns); },
      [](const Event& e) { return static_cast<std::int64_t>(e.correlation); },
      [](const Event& e) { return e.value; },
      [](const Event& e) { return static_cast<std::int64_t>(e.name.value); },
      [](const Event& e) { return static_cast<std::int64_t>(e.op.value); },
      [](const Event& e) { return static_cast<std::int64_t>(e.kernel.value); },
      [](const Event& e) { return static_cast<std::int64_t>(e.args.value); },
      [](const Event& e) { return static_cast<std::int64_t>(e.kind); },
      [](const Event& e) { return static_cast<std::int64_t>(e.depth); });
  std::array<Extremes, kEventColumns> extremes;
  for (int i = 0; i < kEventColumns; ++i) {
    const auto at = static_cast<std::size_t>(i);
    extremes[at] = encode(at, shapeOf(static_cast<EventColumn>(i)));
  }
  const auto of = [&extremes](EventColumn at) { return extremes[static_cast<std::size_t>(at)]; };
  const Extremes start = of(EventColumn::start), dur = of(EventColumn::dur);
  const Extremes correlation = of(EventColumn::correlation);
  PITWALL_TRY(checkKnown(track, std::max(of(EventColumn::name).greatest, of(EventColumn::args).greatest),
                         of(EventColumn::op).greatest, of(EventColumn::kernel).greatest, known));
  const auto sums = sumsOf(columns_[static_cast<std::size_t>(EventColumn::start)],
                           columns_[static_cast<std::size_t>(EventColumn::dur)]);

  insert_events_.bind(1, next_event_)
      .bindId(2, track.value)
      .bind(3, start.least)
      .bind(4, sums.last_end)
      .bind(5, static_cast<std::int64_t>(events.size()))
      .bind(6, dur.greatest)
      .bind(7, sums.dur)
      .bind(8, correlation.least)
      .bind(9, correlation.greatest);
  for (int i = 0; i < kEventColumns; ++i)
    insert_events_.bindBlob(10 + i, encoded_[static_cast<std::size_t>(i)]);
  const std::int64_t chunk = next_event_;
  next_event_ += static_cast<std::int64_t>(events.size());
  PITWALL_TRY(insert_events_.run());
  return events.size() >= kLeastSummedUp ? eventSummary(chunk) : Status();
}

Status ChunkWriter::eventSummary(std::int64_t chunk) {
  const auto column = [this](EventColumn at) -> const std::vector<std::int64_t>& {
    return columns_[static_cast<std::size_t>(at)];
  };
  EventSummary summary;
  summary.last_start_ns = column(EventColumn::start).back();
  summary.groups =
      groupEvents(column(EventColumn::name), column(EventColumn::kind), column(EventColumn::dur));
  summary.nodes = nodesOf({.start = column(EventColumn::start),
                           .dur = column(EventColumn::dur),
                           .name = column(EventColumn::name),
                           .depth = column(EventColumn::depth)});
  if (summary.nodes.size() > column(EventColumn::start).size() / 16) summary.nodes.clear();
  return summaries_.write(chunk, summary);
}

Status ChunkWriter::dependencyChunk(std::span<const Dependency> dependencies) {
  gather(
      dependencies, kEventColumns, [](const Dependency& d) { return static_cast<std::int64_t>(d.source); },
      [](const Dependency& d) { return static_cast<std::int64_t>(d.target); },
      [](const Dependency& d) { return static_cast<std::int64_t>(d.kind); });
  const auto column = [this](DependencyColumn at, ColumnShape shape) {
    return encode(kEventColumns + static_cast<std::size_t>(at), shape);
  };
  const Extremes source = column(DependencyColumn::source, ColumnShape::ascending);
  const Extremes target = column(DependencyColumn::target, ColumnShape::ascending);
  column(DependencyColumn::kind, ColumnShape::repeating);
  insert_dependencies_.bind(1, next_dependency_)
      .bind(2, static_cast<std::int64_t>(dependencies.size()))
      .bind(3, source.least)
      .bind(4, source.greatest)
      .bind(5, target.least)
      .bind(6, target.greatest);
  for (int i = 0; i < kDependencyColumns; ++i)
    insert_dependencies_.bindBlob(7 + i, encoded_[kEventColumns + static_cast<std::size_t>(i)]);
  next_dependency_ += static_cast<std::int64_t>(dependencies.size());
  return insert_dependencies_.run();
}

Status ChunkWriter::counterChunk(TrackId track, std::span<const CounterSample> samples) {
  constexpr auto kTime = static_cast<std::size_t>(CounterColumn::time);
  gather(samples, kTime, [](const CounterSample& s) { return s.time_ns; });
  encode(kTime, ColumnShape::ascending);
  std::vector<double> values(samples.size());
  double least = std::numeric_limits<double>::quiet_NaN(), greatest = least;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    values[i] = samples[i].value;
    least = std::fmin(least, values[i]);  // fmin and fmax ignore NaN
    greatest = std::fmax(greatest, values[i]);
  }
  encoder_.encodeReals(values, encoded_[static_cast<std::size_t>(CounterColumn::value)]);
  insert_counters_.bind(1, next_sample_)
      .bindId(2, track.value)
      .bind(3, samples.front().time_ns)
      .bind(4, samples.back().time_ns)
      .bind(5, static_cast<std::int64_t>(samples.size()))
      .bind(6, least)
      .bind(7, greatest);
  for (int i = 0; i < kCounterColumns; ++i)
    insert_counters_.bindBlob(8 + i, encoded_[static_cast<std::size_t>(i)]);
  next_sample_ += static_cast<std::int64_t>(samples.size());
  return insert_counters_.run();
}

}  // namespace pitwall::store
