#include "analyzer/analysis/slices.h"

#include <algorithm>
#include <tuple>

#include "analyzer/analysis/merge_runs.h"

namespace pitwall::analysis {
namespace {

// Tells apart what is of the same time, so that the order does not depend on where slices are cut.
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
  if (std::is_sorted(begin, list.end(), before)) return;  // and so united as they came
  Intervals own = united(Intervals(begin, list.end()));
  list.resize(from);
  list.insert(list.end(), own.begin(), own.end());
}

EventFields fieldsOf(SliceParts parts) {
  EventFields fields = kStart | kDur | kKind;
  if ((parts & (kOperatorParts | kWorkParts | kCallParts)) != 0) fields = fields | kCorrelation;
  if ((parts & kOperatorParts) != 0) fields = fields | kPushed | kOperator;
  if ((parts & (kWorkParts | kCallParts)) != 0) fields = fields | kName;
  if ((parts & kWorkParts) != 0) fields = fields | kValue | kArgs | kKernel;
  return fields;
}

}  // namespace

SliceReader::SliceReader(Trace& trace, const Activity& activity, ProcessId process, const Reading& reading)
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

Status SliceReader::each(SliceParts parts, const Visitor& visitor) {
  Slice slice;
  const auto& cuts = activity_.cuts;
  for (std::size_t i = 0; i <= cuts.size(); ++i) {
    if (auto status = reading_.goOn(); !status.has_value()) return status;
    slice.from_ns = i == 0 ? INT64_MIN : cuts[i - 1];
    slice.to_ns = i == cuts.size() ? INT64_MAX : cuts[i];
    slice.pending_from_ns = pending_from_[i];
    if (auto status = read(parts, slice); !status.has_value()) return status;
    auto more = visitor(slice);
    if (!more.has_value()) return fail(more.error());
    if (!more.value()) break;
  }
  return {};
}

Result<std::vector<OperatorInterval>> SliceReader::operatorsBetween(TimeNs from, TimeNs to) {
  Slice slice;
  slice.from_ns = from;
  slice.to_ns = to;
  if (auto status = read(kOperatorParts, slice); !status.has_value()) return fail(status.error());
  return std::move(slice.operators);
}

Result<std::vector<OperatorInterval>> SliceReader::firstOperators(std::size_t count) {
  std::vector<OperatorInterval> first;
  auto status = each(kOperatorParts, [&](const Slice& slice) {
    first.insert(first.end(), slice.operators.begin(), slice.operators.end());
    return Result<bool>(first.size() < count);
  });
  if (!status.has_value()) return fail(status.error());
  return first;
}

Status SliceReader::read(SliceParts parts, Slice& slice) {
  slice.operators.clear();
  slice.work.clear();
  slice.calls.clear();
  slice.busy.clear();
  slice.work_of_track.assign(1, 0);
  slice.busy_of_track.assign(1, 0);
  const auto held = trace_.hold();  // one lock for all tracks
  std::vector<std::size_t> runs;    // where the operators of each track begin
  for (std::size_t t = 0; t < activity_.tracks.size(); ++t) {
    runs.push_back(slice.operators.size());
    if (auto status = readTrack(t, parts, slice); !status.has_value()) return status;
    slice.work_of_track.push_back(slice.work.size());
    slice.busy_of_track.push_back(slice.busy.size());
  }
  runs.push_back(slice.operators.size());
  mergeRuns(slice.operators, std::move(runs), earlier<OperatorInterval>);
  return reading_.goOn();
}

// Those of the wanted parts that the track has any of.
SliceParts SliceReader::partsOf(std::size_t track, SliceParts wanted) const {
  const auto& t = activity_.tracks[track];
  const auto& info = trace_.tracks()[t.id.value - 1];
  int parts = 0;
  if (t.operators > 0 && info.process == process_) parts |= kOperatorParts;
  if (t.device_work > 0) parts |= kWorkParts;
  if (t.calls > 0) parts |= kCallParts;
  if (t.events > 0 && info.kind == TrackKind::thread) parts |= kBusyParts;
  return static_cast<SliceParts>(parts & wanted);
}

Status SliceReader::readTrack(std::size_t track, SliceParts wanted, Slice& slice) {
  const SliceParts parts = partsOf(track, wanted);
  if (parts == 0) return {};
  const auto& activity = activity_.tracks[track];
  const std::size_t first_operator = slice.operators.size(), first_work = slice.work.size(),
                    first_call = slice.calls.size(), first_busy = slice.busy.size();
  auto status = trace_.eventColumns({.track = activity.id,
                                     .from_ns = slice.from_ns,
                                     .to_ns = slice.to_ns,
                                     .fields = fieldsOf(parts),
                                     .starting = true},
                                    [&](const EventSpans& events) {
                                      add(events, activity, parts, slice);
                                      return !reading_.cancelled();
                                    });
  if (!status.has_value()) return status;
  order(slice.operators, first_operator);
  order(slice.work, first_work);
  order(slice.calls, first_call);
  unite(slice.busy, first_busy);
  return {};
}

void SliceReader::add(const EventSpans& events, const TrackActivity& track, SliceParts parts,
                      Slice& slice) const {
  const std::size_t first_busy = slice.busy_of_track.back();
  const bool is_stream = track.device_work > 0;
  const auto id = [](std::span<const std::int64_t> column, std::size_t i) {
    return static_cast<std::uint32_t>(column[i]);
  };
  for (std::size_t i = 0; i < events.size; ++i) {
    const auto kind = static_cast<EventKind>(events.kind[i]);
    const TimeNs start = events.start_ns[i], end = start + events.dur_ns[i];
    if ((parts & kBusyParts) != 0 && kind != EventKind::recorder) {
      // As addInterval() does, but for what belongs to the tracks before.
      if (slice.busy.size() > first_busy && start >= slice.busy.back().start_ns &&
          start <= slice.busy.back().end_ns) {
        slice.busy.back().end_ns = std::max(slice.busy.back().end_ns, end);
      } else if (end > start) {
        slice.busy.push_back({start, end});
      }
    }
    if (is_stream && worksOnDevice(kind)) {
      if ((parts & kWorkParts) == 0) continue;
      const StringId name{id(events.name, i)};
      const bool sets_memory = name.value < sets_memory_.size() && sets_memory_[name.value];
      slice.work.push_back({start, end, static_cast<CorrelationId>(events.correlation[i]), events.value[i],
                            name, StringId{id(events.args, i)}, track.id, id(events.kernel, i),
                            workClassOf(kind, sets_memory ? kSetsMemory : kNoMeaning), sets_memory});
    } else if (kind == EventKind::operatorRun && (parts & kOperatorParts) != 0) {
      slice.operators.push_back({start, end, std::min(events.pushed_ns[i], start),
                                 static_cast<CorrelationId>(events.correlation[i]),
                                 OperatorId{id(events.op, i)}, track.id.value});
    } else if (kind == EventKind::api && (parts & kCallParts) != 0) {
      slice.calls.push_back({start, end, static_cast<CorrelationId>(events.correlation[i]),
                             StringId{id(events.name, i)}, track.id});
    }
  }
}

}  // namespace pitwall::analysis
