#include "analyzer/analysis/time_chunks.h"

#include <algorithm>
#include <tuple>

#include "analyzer/analysis/merge_runs.h"
#include "db/try.h"

namespace pitwall::analysis {
namespace {

// Orders events of the same time, so that the order does not depend on where the trace is cut.
std::uint32_t last(const OperatorInterval& op) { return op.op.value; }
std::uint32_t last(const DeviceWork& work) { return work.name.value; }
std::uint32_t last(const HostCall& call) { return call.name.value; }

template <typename T>
bool earlier(const T& a, const T& b) {
  if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
  return std::tuple(a.end_ns, a.correlation, last(a)) < std::tuple(b.end_ns, b.correlation, last(b));
}

template <typename T>
void order(std::vector<T>& list, std::size_t from) {
  const auto begin = list.begin() + static_cast<std::ptrdiff_t>(from);
  if (!std::is_sorted(begin, list.end(), earlier<T>)) std::sort(begin, list.end(), earlier<T>);
}

// Of the last track; touching intervals become one.
void unite(Intervals& list, std::size_t from) {
  const auto begin = list.begin() + static_cast<std::ptrdiff_t>(from);
  const auto before = [](const Interval& a, const Interval& b) { return a.start_ns < b.start_ns; };
  if (std::is_sorted(begin, list.end(), before)) return;  // and therefore united already
  Intervals own = united(Intervals(begin, list.end()));
  list.resize(from);
  list.insert(list.end(), own.begin(), own.end());
}

EventFields fieldsOf(TimeChunkParts parts) {
  EventFields fields = kStart | kDur | kKind;
  if ((parts & (kOperatorParts | kWorkParts | kCallParts)) != 0) fields = fields | kCorrelation;
  if ((parts & kOperatorParts) != 0) fields = fields | kPushed | kOperator;
  if ((parts & (kWorkParts | kCallParts)) != 0) fields = fields | kName;
  if ((parts & kWorkParts) != 0) fields = fields | kValue | kArgs | kKernel;
  return fields;
}

}  // namespace

TimeChunkReader::TimeChunkReader(Trace& trace, const Activity& activity, ProcessId process,
                                 const Reading& reading)
    : trace_(trace), activity_(activity), process_(process), reading_(reading) {
  pending_from_.assign(activity.cuts.size() + 1, INT64_MAX);
  if (const auto found = activity.earliest_push.find(process); found != activity.earliest_push.end()) {
    for (std::size_t i = pending_from_.size() - 1; i-- > 0;)
      pending_from_[i] = std::min(pending_from_[i + 1], found->second[i + 1]);
  }
  for (const auto& name : activity.names) {
    if (name.kind != EventKind::copy || (meaningOf(trace.string(name.name), name.kind) & kSetsMemory) == 0)
      continue;
    if (name.name.value >= sets_memory_.size()) sets_memory_.resize(std::size_t{name.name.value} + 1);
    sets_memory_[name.name.value] = true;
  }
}

Status TimeChunkReader::each(TimeChunkParts parts, const Visitor& visitor) {
  TimeChunk chunk;
  const auto& cuts = activity_.cuts;
  for (std::size_t i = 0; i <= cuts.size(); ++i) {
    PITWALL_TRY(reading_.checkCancelled());
    chunk.from_ns = i == 0 ? INT64_MIN : cuts[i - 1];
    chunk.to_ns = i == cuts.size() ? INT64_MAX : cuts[i];
    chunk.pending_from_ns = pending_from_[i];
    PITWALL_TRY(read(parts, chunk));
    auto more = PITWALL_TRY(visitor(chunk));
    if (!more) break;
  }
  return {};
}

Result<std::vector<OperatorInterval>> TimeChunkReader::operatorsBetween(TimeNs from, TimeNs to) {
  TimeChunk chunk;
  chunk.from_ns = from;
  chunk.to_ns = to;
  PITWALL_TRY(read(kOperatorParts, chunk));
  return std::move(chunk.operators);
}

Result<std::vector<OperatorInterval>> TimeChunkReader::firstOperators(std::size_t count) {
  std::vector<OperatorInterval> first;
  auto status = each(kOperatorParts, [&](const TimeChunk& chunk) {
    first.insert(first.end(), chunk.operators.begin(), chunk.operators.end());
    return Result<bool>(first.size() < count);
  });
  PITWALL_TRY(status);
  return first;
}

Status TimeChunkReader::read(TimeChunkParts parts, TimeChunk& chunk) {
  chunk.operators.clear();
  chunk.work.clear();
  chunk.calls.clear();
  chunk.busy.clear();
  chunk.work_of_track.assign(1, 0);
  chunk.busy_of_track.assign(1, 0);
  const auto held = trace_.hold();  // one lock for all tracks
  std::vector<std::size_t> runs;    // where the operators of each track begin
  for (std::size_t t = 0; t < activity_.tracks.size(); ++t) {
    runs.push_back(chunk.operators.size());
    PITWALL_TRY(readTrack(t, parts, chunk));
    chunk.work_of_track.push_back(chunk.work.size());
    chunk.busy_of_track.push_back(chunk.busy.size());
  }
  runs.push_back(chunk.operators.size());
  mergeRuns(chunk.operators, std::move(runs), earlier<OperatorInterval>);
  return reading_.checkCancelled();
}

// The wanted parts that the track contains.
TimeChunkParts TimeChunkReader::partsOf(std::size_t track, TimeChunkParts wanted) const {
  const auto& t = activity_.tracks[track];
  const auto& info = trace_.tracks()[t.id.value - 1];
  int parts = 0;
  if (t.operators > 0 && info.process == process_) parts |= kOperatorParts;
  if (t.device_work > 0) parts |= kWorkParts;
  if (t.calls > 0) parts |= kCallParts;
  if (t.events > 0 && info.kind == TrackKind::thread) parts |= kBusyParts;
  return static_cast<TimeChunkParts>(parts & wanted);
}

Status TimeChunkReader::readTrack(std::size_t track, TimeChunkParts wanted, TimeChunk& chunk) {
  const TimeChunkParts parts = partsOf(track, wanted);
  if (parts == 0) return {};
  const auto& activity = activity_.tracks[track];
  const std::size_t first_operator = chunk.operators.size(), first_work = chunk.work.size(),
                    first_call = chunk.calls.size(), first_busy = chunk.busy.size();
  auto status = trace_.eventColumns({.track = activity.id,
                                     .from_ns = chunk.from_ns,
                                     .to_ns = chunk.to_ns,
                                     .fields = fieldsOf(parts),
                                     .starting = true},
                                    [&](const EventSpans& events) {
                                      add(events, activity, parts, chunk);
                                      return !reading_.cancelled();
                                    });
  PITWALL_TRY(status);
  order(chunk.operators, first_operator);
  order(chunk.work, first_work);
  order(chunk.calls, first_call);
  unite(chunk.busy, first_busy);
  return {};
}

void TimeChunkReader::add(const EventSpans& events, const TrackActivity& track, TimeChunkParts parts,
                          TimeChunk& chunk) const {
  const std::size_t first_busy = chunk.busy_of_track.back();
  const bool is_stream = track.device_work > 0;
  const auto id = [](std::span<const std::int64_t> column, std::size_t i) {
    return static_cast<std::uint32_t>(column[i]);
  };
  for (std::size_t i = 0; i < events.size; ++i) {
    const auto kind = static_cast<EventKind>(events.kind[i]);
    const TimeNs start = events.start_ns[i], end = start + events.dur_ns[i];
    if ((parts & kBusyParts) != 0 && kind != EventKind::recorder) {
      // As addInterval(), except for intervals of the tracks before.
      if (chunk.busy.size() > first_busy && start >= chunk.busy.back().start_ns &&
          start <= chunk.busy.back().end_ns) {
        chunk.busy.back().end_ns = std::max(chunk.busy.back().end_ns, end);
      } else if (end > start) {
        chunk.busy.push_back({start, end});
      }
    }
    if (is_stream && worksOnDevice(kind)) {
      if ((parts & kWorkParts) == 0) continue;
      const StringId name{id(events.name, i)};
      const bool sets_memory = name.value < sets_memory_.size() && sets_memory_[name.value];
      chunk.work.push_back({start, end, static_cast<CorrelationId>(events.correlation[i]), events.value[i],
                            name, StringId{id(events.args, i)}, track.id, id(events.kernel, i),
                            workClassOf(kind, sets_memory ? kSetsMemory : kNoMeaning), sets_memory});
    } else if (kind == EventKind::operatorRun && (parts & kOperatorParts) != 0) {
      chunk.operators.push_back({start, end, std::min(events.pushed_ns[i], start),
                                 static_cast<CorrelationId>(events.correlation[i]),
                                 OperatorId{id(events.op, i)}, track.id.value});
    } else if (kind == EventKind::api && (parts & kCallParts) != 0) {
      chunk.calls.push_back({start, end, static_cast<CorrelationId>(events.correlation[i]),
                             StringId{id(events.name, i)}, track.id});
    }
  }
}

}  // namespace pitwall::analysis
