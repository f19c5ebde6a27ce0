#include "db/import/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "db/import/text.h"
#include "db/meta.h"

namespace pitwall::import {
namespace {

constexpr std::size_t kHeldEvents = std::size_t{1} << 20;
constexpr std::size_t kDistinctWords = 4096;
constexpr std::size_t kDistinctFacts = std::size_t{1} << 16;
constexpr std::size_t kFurthestBack = 4096;  // events looked at to find the one that encloses a point

bool inRange(std::int64_t time_ns) { return time_ns < kLatestNs && time_ns > -kLatestNs; }

template <class Map>
auto& entryOf(Map& map, std::string_view what) {
  auto found = map.find(std::string(what));
  if (found != map.end()) return found->second;
  if (map.size() >= kDistinctWords) return map["others"];
  std::string clean;
  appendClean(what, clean);
  return map[clean];
}

}  // namespace

std::int64_t& Builder::record(std::string_view what) { return entryOf(summary_.records, what); }

void Builder::count(ImportCount& count, std::string_view example) {
  if (count.count++ == 0) appendClean(example, count.example);
}
void Builder::notUnderstood(std::string_view what, std::string_view example) {
  count(entryOf(summary_.not_understood, what), example);
}
void Builder::repaired(std::string_view what, std::string_view example) {
  count(entryOf(summary_.repaired, what), example);
}
void Builder::dropped(std::string_view what, std::string_view example) {
  count(entryOf(summary_.dropped, what), example);
}
void Builder::note(std::string text) {
  const auto& notes = summary_.notes;
  if (std::find(notes.begin(), notes.end(), text) == notes.end()) summary_.notes.push_back(std::move(text));
}
void Builder::damaged(std::string text) {
  input().complete = false;
  if (input().damage.empty()) input().damage = std::move(text);
}

// --- Dimensions ---

ProcessRef Builder::process(std::string_view key) {
  const auto [found, fresh] = process_keys_.try_emplace(std::string(key), processes_.size());
  if (fresh) processes_.push_back({std::string(key), {}, parseInteger(key).value_or(0), {}});
  return {found->second};
}

void Builder::nameProcess(ProcessRef process, std::string_view name) {
  std::string clean;
  appendClean(name, clean);
  processes_[process.index].name = std::move(clean);
}

void Builder::rank(int rank) {
  rank_ = rank;
  auto& ranks = summary_.ranks;
  if (std::find(ranks.begin(), ranks.end(), rank) == ranks.end()) ranks.push_back(rank);
}

DeviceRef Builder::device(std::string_view kind, int index) {
  const auto [found, fresh] = device_keys_.try_emplace(fmt::format("{} {}", kind, index), devices_.size());
  if (fresh) {
    Device device;
    device.kind = std::string(kind);
    device.index = index;
    devices_.push_back(std::move(device));
  }
  return {found->second};
}

void Builder::nameDevice(DeviceRef device, std::string_view name, Bytes memory_bytes) {
  Device& known = devices_[device.index];
  std::string clean;
  appendClean(name, clean);
  known.name = std::move(clean);
  known.memory_bytes = memory_bytes;
}

TrackRef Builder::track(std::string key, Track fresh) {
  const auto [found, inserted] = track_keys_.try_emplace(std::move(key), tracks_.size());
  if (inserted) tracks_.push_back(std::move(fresh));
  return {found->second};
}

TrackRef Builder::thread(ProcessRef process, std::string_view key) {
  scratch_ = fmt::format("t{}\n{}", process.index, key);
  if (const auto found = track_keys_.find(scratch_); found != track_keys_.end()) return {found->second};
  Track fresh;
  fresh.process = process.index;
  fresh.thread_key = key.empty() ? "0" : std::string(key);
  return track(scratch_, std::move(fresh));
}

void Builder::nameThread(TrackRef thread, std::string_view name) {
  std::string clean;
  appendClean(name, clean);
  tracks_[thread.index].name = std::move(clean);
}

TrackRef Builder::stream(ProcessRef process, DeviceRef device, std::string_view stream,
                         std::string_view suffix) {
  scratch_ = fmt::format("s{}\n{}\n{}\n{}", process.index, device.index, stream, suffix);
  if (const auto found = track_keys_.find(scratch_); found != track_keys_.end()) return {found->second};
  Track fresh;
  fresh.kind = TrackKind::stream;
  fresh.process = process.index;
  fresh.device = device.index;
  const Device& about = devices_[device.index];
  std::string clean;
  appendClean(stream, clean);
  fresh.name =
      fmt::format("{} {} stream {}{}{}", about.kind, about.index, clean, suffix.empty() ? "" : ": ", suffix);
  return track(scratch_, std::move(fresh));
}

TrackRef Builder::stream(DeviceRef device, std::string_view stream, std::string_view suffix) {
  return this->stream(ProcessRef{kOwner}, device, stream, suffix);
}

TrackRef Builder::lane(ProcessRef process, std::string_view name) {
  scratch_ = fmt::format("l{}\n{}", process.index, name);
  if (const auto found = track_keys_.find(scratch_); found != track_keys_.end()) return {found->second};
  Track fresh;
  fresh.process = process.index;
  appendClean(name, fresh.name);
  return track(scratch_, std::move(fresh));
}

TrackRef Builder::counter(ProcessRef process, std::string_view name, std::string_view unit) {
  scratch_ = fmt::format("c{}\n{}", process.index, name);
  if (const auto found = track_keys_.find(scratch_); found != track_keys_.end()) return {found->second};
  Track fresh;
  fresh.kind = TrackKind::counter;
  fresh.process = process.index;
  appendClean(name, fresh.name);
  fresh.unit = std::string(unit);
  return track(scratch_, std::move(fresh));
}

StringId Builder::name(std::string_view text) {
  std::string clean;
  if (appendClean(text, clean)) repaired("names with bytes that are not text, or too long", clean);
  return sink_.string(clean);
}

OperatorId Builder::facts(const OperatorFacts& facts) {
  const std::string key =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}", facts.name, facts.layer, facts.shapes, facts.dtype,
                  facts.backend, facts.implementation, static_cast<int>(facts.phase));
  if (const auto found = facts_.find(key); found != facts_.end()) return found->second;
  if (facts_.size() >= kDistinctFacts) {
    note(fmt::format("more than {} different operators: the facts of the others are left out",
                     kDistinctFacts));
    return {};
  }
  OperatorFacts clean = facts;
  for (std::string* text :
       {&clean.name, &clean.layer, &clean.shapes, &clean.dtype, &clean.backend, &clean.implementation}) {
    std::string fixed;
    appendClean(*text, fixed);
    *text = std::move(fixed);
  }
  return facts_[key] = sink_.operatorFacts(clean);
}

void Builder::meta(std::string_view key, std::string_view value) {
  std::string clean;
  appendClean(value, clean);
  sink_.meta(key, clean);
}

// --- Data ---

bool Builder::add(TrackRef track, Event event) {
  if (event.dur_ns < 0) {
    repaired("events that end before they start: length taken as 0",
             fmt::format("an event at {} ns of length {} ns", event.start_ns, event.dur_ns));
    event.dur_ns = 0;
  }
  if (!inRange(event.start_ns) || !inRange(event.dur_ns) || !inRange(event.start_ns + event.dur_ns)) {
    dropped("events with a time out of range", fmt::format("start {} ns", event.start_ns));
    return false;
  }
  event.pushed_ns = event.start_ns;
  event.ready_ns = event.start_ns;
  earliest_ = has_span_ ? std::min(earliest_, event.start_ns) : event.start_ns;
  latest_ = has_span_ ? std::max(latest_, event.start_ns + event.dur_ns) : event.start_ns + event.dur_ns;
  has_span_ = true;
  ++kinds_[static_cast<std::uint8_t>(event.kind)];
  tracks_[track.index].events.push_back(event);
  if (++held_ >= kHeldEvents) flush();
  return true;
}

void Builder::sample(TrackRef track, std::int64_t time_ns, double value) {
  if (!inRange(time_ns)) {
    dropped("counter samples with a time out of range", fmt::format("time {} ns", time_ns));
    return;
  }
  earliest_ = has_span_ ? std::min(earliest_, time_ns) : time_ns;
  latest_ = has_span_ ? std::max(latest_, time_ns) : time_ns;
  has_span_ = true;
  ++sample_count_;
  tracks_[track.index].samples.push_back({time_ns, value});
  if (++held_ >= kHeldEvents) flush();
}

void Builder::expectFrom(std::int64_t time_ns) {
  if (!inRange(time_ns)) return;
  has_span_ = true;
  earliest_ = latest_ = time_ns;
}

void Builder::mark(std::int64_t index, std::int64_t time_ns) {
  if (inRange(time_ns)) marks_.push_back({index, time_ns, 0});
}

void Builder::depend(CorrelationId source, CorrelationId target, DependencyKind kind) {
  dependencies_.push_back({source, target, kind});
  ++dependency_count_;
}

void Builder::flow(const FlowPoint& point) {
  if (!inRange(point.time_ns)) {
    dropped("arrows with a time out of range", "");
    return;
  }
  flows_.push_back(point);
  if (++held_ >= kHeldEvents) flush();
}

// --- Rounds ---

void Builder::nest(Track& track) {
  auto& events = track.events;
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.dur_ns > b.dur_ns;
  });
  auto& open = track.open;
  for (Event& event : events) {
    const std::int64_t end = event.start_ns + event.dur_ns;
    while (!open.empty() && open.back() <= event.start_ns) open.pop_back();
    if (!open.empty() && open.back() < end && !track.thread_key.empty()) {
      repaired("events that overlap on their thread without one enclosing the other: both kept",
               fmt::format("two events of thread {} at {} ns", track.thread_key, event.start_ns));
    }
    event.depth = static_cast<std::uint16_t>(
        std::min<std::size_t>(open.size(), std::numeric_limits<std::uint16_t>::max()));
    if (event.dur_ns > 0) open.push_back(end);
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
    if (end == 0) {
      dropped("arrows with an end that no range encloses", fmt::format("at {} ns", point.time_ns));
      continue;
    }
    if (point.order == 0) {
      flow_sources_[point.key] = end;
      continue;
    }
    const auto source = flow_sources_.find(point.key);
    if (source == flow_sources_.end()) {
      dropped("arrows with an end but no start", fmt::format("at {} ns", point.time_ns));
      continue;
    }
    if (source->second != end) depend(source->second, end, DependencyKind::flow);
    if (point.order == 1) source->second = end;
  }
  flows_.clear();
}

void Builder::chooseZero() {
  if (has_zero_) return;
  has_zero_ = true;
  zero_ = earliest_;
  if (input_number_ == 1) return;
  if (has_wall_clock_ && trace_has_wall_clock_) {
    const std::int64_t zero = trace_zero_unix_ns_ - input_zero_unix_ns_;
    if (inRange(zero)) {
      zero_ = zero;
      note(fmt::format("{}: placed by its wall clock; error = the difference of the machines' clocks",
                       input().path));
      return;
    }
  }
  note(fmt::format(
      "{}: starts with the trace: its clock does not say when; do not compare its times with others'",
      input().path));
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
    info.name = clean;
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
  track.events = {};
  track.samples = {};
}

void Builder::flush() {
  chooseZero();
  for (Track& track : tracks_) nest(track);
  bindFlows();
  for (Track& track : tracks_) emit(track);
  if (!dependencies_.empty()) sink_.dependencies(dependencies_);
  dependencies_.clear();
  held_ = 0;
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
  marks_.clear();
  rank_ = 0;
  owner_ = kNone;
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
    note(fmt::format("{}: its iteration marks are left out, since the first input's count", input().path));
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
