// Flushes the builder's buffers: sorting, nesting, arrows, the trace's time 0, the ends of inputs.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "db/import/build/builder.h"
#include "db/import/input/text.h"
#include "db/meta.h"

namespace pitwall::import {
namespace {

constexpr std::size_t kFurthestBack = 4096;  // events searched for the one that encloses a point
constexpr std::size_t kDeepest = std::numeric_limits<std::uint16_t>::max();
constexpr std::size_t kMostFlowSources = std::size_t{1} << 19;

}  // namespace

namespace {

bool startsBefore(const Event& a, const Event& b) {
  return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.dur_ns > b.dur_ns;
}

// Merges two neighbouring sorted runs; the first wins ties. Only the overlapping part is moved.
void mergeRuns(std::vector<Event>& events, std::size_t from, std::size_t middle, std::size_t to,
               std::vector<Event>& scratch) {
  const auto at = [&](std::size_t i) { return events.begin() + static_cast<std::ptrdiff_t>(i); };
  if (!startsBefore(events[middle], events[middle - 1])) return;
  const auto first = std::upper_bound(at(from), at(middle), events[middle], startsBefore);
  const auto last = std::lower_bound(at(middle), at(to), events[middle - 1], startsBefore);
  scratch.assign(first, at(middle));
  auto left = scratch.begin();
  auto right = at(middle);
  for (auto to_fill = first; left != scratch.end(); ++to_fill) {  // never overtakes `right`
    *to_fill = right != last && startsBefore(*right, *left) ? *right++ : *left++;
  }
}

// By start, the longer first; equal ones keep their order. Profilers write long sorted runs (a step's
// operators, then its launches), so whole runs are merged.
void sortByStart(std::vector<Event>& events, std::vector<Event>& scratch) {
  std::vector<std::size_t> bounds = {0};
  for (std::size_t i = 1; i < events.size(); ++i) {
    if (startsBefore(events[i], events[i - 1])) bounds.push_back(i);
  }
  bounds.push_back(events.size());
  while (bounds.size() > 2) {
    std::vector<std::size_t> fewer = {0};
    for (std::size_t i = 2; i < bounds.size(); i += 2) {
      mergeRuns(events, bounds[i - 2], bounds[i - 1], bounds[i], scratch);
      fewer.push_back(bounds[i]);
    }
    if (fewer.back() != events.size()) fewer.push_back(events.size());
    bounds = std::move(fewer);
  }
}

}  // namespace

void Builder::nest(Track& track) {
  auto& events = track.events;
  sortByStart(events, sorted_);
  ImportCount* overlaps = nullptr;
  auto& open = track.open;
  for (Event& event : events) {
    const std::int64_t end = event.start_ns + event.dur_ns;
    while (!open.empty() && open.back() <= event.start_ns) open.pop_back();
    if (!open.empty() && open.back() < end && !track.thread_key.empty()) {
      if (overlaps == nullptr)
        overlaps = &repairedCounter(
            "events that overlap on their thread without one enclosing the other: both kept");
      tally(*overlaps, [&] {
        return fmt::format("two events of thread {} at {} ns", track.thread_key, event.start_ns);
      });
    }
    event.depth = static_cast<std::uint16_t>(std::min<std::size_t>(open.size(), kDeepest));
    if (event.dur_ns > 0 && open.size() < kDeepest) open.push_back(end);
  }
}

CorrelationId Builder::bind(Track& track, const FlowPoint& point) {
  auto& events = track.events;
  const auto after =
      std::upper_bound(events.begin(), events.end(), point.time_ns,
                       [](std::int64_t time, const Event& event) { return time < event.start_ns; });
  Event* found = nullptr;
  if (point.next_range) {
    const auto next =
        std::lower_bound(events.begin(), events.end(), point.time_ns,
                         [](const Event& event, std::int64_t time) { return event.start_ns < time; });
    if (next != events.end()) found = &*next;
  } else {
    std::size_t steps = 0;
    for (auto at = after; at != events.begin() && steps < kFurthestBack; ++steps) {
      --at;
      if (at->kind != EventKind::instant && at->start_ns + at->dur_ns >= point.time_ns) {
        found = &*at;
        break;
      }
    }
  }
  if (found == nullptr) return 0;
  if (found->correlation == 0) found->correlation = newCorrelation();
  return found->correlation;
}

void Builder::bindFlows() {
  std::stable_sort(flows_.begin(), flows_.end(), [](const FlowPoint& a, const FlowPoint& b) {
    return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.order < b.order;
  });
  for (const FlowPoint& point : flows_) {
    const CorrelationId end = bind(tracks_[point.track.index], point);
    if (end != 0 && point.phase != Phase::none) phases_.arrow(end, point.phase);
    if (end == 0) {
      dropped("arrows with an end that no range encloses", fmt::format("at {} ns", point.time_ns));
      continue;
    }
    if (point.order == 0) {
      flow_sources_[point.key] = {end, false};
      continue;
    }
    const auto source = flow_sources_.find(point.key);
    if (source == flow_sources_.end()) {
      dropped("arrows with an end but no start", fmt::format("at {} ns", point.time_ns));
      continue;
    }
    if (source->second.id != end) depend(source->second.id, end, DependencyKind::flow);
    if (point.order == 1) source->second.id = end;
    if (point.order == 2) source->second.ended = true;  // kept: an arrow may have several ends
  }
  flows_.clear();
  boundFlowSources();
}

void Builder::boundFlowSources() {
  if (flow_sources_.size() <= kMostFlowSources) return;
  std::erase_if(flow_sources_, [](const auto& entry) { return entry.second.ended; });
  if (flow_sources_.size() <= kMostFlowSources / 2) return;
  dropped(fmt::format("starts of arrows, of which more than {} waited for their ends at a time",
                      kMostFlowSources / 2),
          "");
  flow_sources_.clear();
}

void Builder::chooseZero() {
  if (has_zero_) return;
  has_zero_ = true;
  zero_ = earliest_ - placed_.value_or(0);
}

void Builder::place(TimeNs begin_ns, std::optional<int> rank) {
  placed_ = begin_ns;
  if (rank) this->rank(*rank);
}

TimeNs Builder::placeRows(TimeNs first_ns, TimeNs last_ns) {
  has_zero_ = true;
  zero_ = -placed_.value_or(0);
  extend(first_ns, last_ns);
  return -zero_;
}

// Processes of several inputs are distinguished by their rank.
std::string Builder::shownName(int rank, std::string_view process) const {
  return placed_ && has_rank_ ? fmt::format("rank {}: {}", rank, process) : std::string(process);
}

ProcessId Builder::idOf(std::size_t process) {
  if (process == kOwner) process = owner_;
  if (process == kNone) return {};
  Process& known = processes_[process];
  if (!known.id) {
    ProcessInfo info;
    info.pid = known.pid;
    info.name = known.name.empty() ? fmt::format("process {}", known.key) : known.name;
    std::string clean;
    appendClean(info.name, clean);
    info.name = shownName(rank_, clean);
    info.rank = rank_;
    known.id = sink_.process(info);
  }
  return known.id;
}

DeviceId Builder::idOf(DeviceRef device) {
  Device& known = devices_[device.index];
  if (!known.id) {
    known.id = sink_.device({known.kind, known.index, known.name, known.memory_bytes});
    std::string text = fmt::format("{} {}", known.kind, known.index);
    if (!known.name.empty()) text += fmt::format(" ({})", known.name);
    auto& devices = summary_.devices;
    if (std::find(devices.begin(), devices.end(), text) == devices.end()) devices.push_back(std::move(text));
  }
  return known.id;
}

void Builder::emit(Track& track) {
  if (track.events.empty() && track.samples.empty()) return;
  if (!track.id) {
    TrackInfo info;
    info.kind = track.kind;
    info.process = idOf(track.process);
    info.name = track.name;
    info.unit = track.unit;
    if (track.device != kNone) info.device = idOf(DeviceRef{track.device});
    if (!track.thread_key.empty()) {
      std::string key;
      appendClean(track.thread_key, key);
      if (info.name.empty()) info.name = fmt::format("thread {}", key);
      info.thread = sink_.thread({info.process, parseInteger(track.thread_key).value_or(0), info.name});
    }
    track.id = sink_.track(info);
  }
  for (Event& event : track.events) {
    event.start_ns -= zero_;
    event.pushed_ns -= zero_;
    event.ready_ns -= zero_;
  }
  for (CounterSample& sample : track.samples) sample.time_ns -= zero_;
  if (!track.events.empty()) sink_.events(track.id, track.events);
  if (!track.samples.empty()) sink_.counters(track.id, track.samples);
  track.events.clear();
  track.samples.clear();
}

// Memory is kept for the next flush: fresh pages cost as much as reading an event. But each track keeps its
// largest size.
void Builder::boundMemory() {
  std::size_t held = 0;
  for (const Track& track : tracks_) held += track.events.capacity() + track.samples.capacity() / 4;
  if (held <= 2 * kHeldEvents) return;
  for (Track& track : tracks_) {
    if (track.events.capacity() > kHeldEvents / 8) track.events = {};
    if (track.samples.capacity() > kHeldEvents / 2) track.samples = {};
  }
}

void Builder::flush() {
  chooseZero();
  for (Track& track : tracks_) nest(track);
  bindFlows();
  for (Track& track : tracks_) {
    if (track.kind == TrackKind::thread && !track.events.empty()) phases_.apply(track.events, track.phases);
  }
  phases_.endFlush();
  for (Track& track : tracks_) emit(track);
  if (!dependencies_.empty()) sink_.dependencies(dependencies_);
  dependencies_.clear();
  held_ = 0;
  boundMemory();
}

// --- Inputs ---

void Builder::beginInput() {
  ++input_number_;
  processes_.clear();
  devices_.clear();
  tracks_.clear();
  process_keys_.clear();
  track_keys_.clear();
  device_keys_.clear();
  flow_sources_.clear();
  phases_.beginInput();
  marks_.clear();
  rank_ = 0;
  owner_ = kNone;
  placed_.reset();
  has_rank_ = false;
  has_zero_ = false;
  has_wall_clock_ = false;
  has_span_ = false;
}

void Builder::endInput() {
  flush();
  if (has_span_) {
    const std::int64_t begin = earliest_ - zero_;
    const std::int64_t end = latest_ - zero_;
    summary_.begin_ns = has_total_span_ ? std::min(summary_.begin_ns, begin) : begin;
    summary_.end_ns = has_total_span_ ? std::max(summary_.end_ns, end) : end;
    has_total_span_ = true;
  }
  if (has_wall_clock_ && !trace_has_wall_clock_ && input_number_ == 1) {
    trace_has_wall_clock_ = true;
    trace_zero_unix_ns_ = input_zero_unix_ns_ + zero_;
  }
  if (!marks_.empty() && summary_.events["iterations"] > 0) {
    note(fmt::format("{}: its iteration marks are left out, since those of the first input are used",
                     input().path));
    marks_.clear();
  }
  std::stable_sort(marks_.begin(), marks_.end(),
                   [](const IterationMark& a, const IterationMark& b) { return a.time_ns < b.time_ns; });
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  for (IterationMark mark : marks_) {
    if (mark.index <= last) continue;  // the same step seen on another thread
    last = mark.index;
    mark.time_ns -= zero_;
    sink_.iteration(mark);
    ++summary_.events["iterations"];
  }
  marks_.clear();
}

void Builder::finish() {
  for (int kind = 0; kind < 256; ++kind) {
    if (kinds_[kind] > 0) summary_.events[toString(static_cast<EventKind>(kind))] += kinds_[kind];
  }
  if (sample_count_ > 0) summary_.events["counter samples"] = sample_count_;
  if (dependency_count_ > 0) summary_.events["dependencies"] = dependency_count_;
  if (summary_.events["iterations"] == 0) summary_.events.erase("iterations");
  std::sort(summary_.ranks.begin(), summary_.ranks.end());
  if (trace_has_wall_clock_) sink_.meta(meta::kTraceStartUnixNs, std::to_string(trace_zero_unix_ns_));
  sink_.meta(meta::kTraceEndNs, std::to_string(summary_.end_ns));
}

}  // namespace pitwall::import
