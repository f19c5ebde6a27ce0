#include "db/import/build/tracks.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "db/import/input/text.h"

namespace pitwall::import {
namespace {

constexpr std::size_t kMostTracks = std::size_t{1} << 16;

}  // namespace

ProcessRef Tracks::process(std::string_view key) {
  const auto [found, fresh] = process_keys_.try_emplace(std::string(key), processes_.size());
  if (fresh) {
    Process process;
    process.key = std::string(key);
    process.pid = parseInteger(key).value_or(0);
    processes_.push_back(std::move(process));
  }
  return {found->second};
}

void Tracks::setPid(ProcessRef process, std::int64_t pid, std::string_view host) {
  Process& known = processes_[process.index];
  known.pid = pid;
  known.has_system_pid = true;
  known.host = std::string(host);
}

ProcessId Tracks::processOfSystem(const ProcessInfo& info, std::string_view host) {
  const auto recorded = joined_ != nullptr ? joined_->recorded(info, host) : std::nullopt;
  return recorded ? *recorded : sink_.process(info);
}

void Tracks::nameProcess(ProcessRef process, std::string_view name) {
  std::string clean;
  appendClean(name, clean);
  processes_[process.index].name = std::move(clean);
}

void Tracks::rank(int rank) {
  rank_ = rank;
  has_rank_ = true;
  auto& ranks = tally_.summary().ranks;
  if (std::find(ranks.begin(), ranks.end(), rank) == ranks.end()) ranks.push_back(rank);
}

DeviceRef Tracks::device(std::string_view kind, int index) {
  const auto [found, fresh] = device_keys_.try_emplace(fmt::format("{} {}", kind, index), devices_.size());
  if (fresh) {
    Device device;
    device.kind = std::string(kind);
    device.index = index;
    devices_.push_back(std::move(device));
  }
  return {found->second};
}

void Tracks::nameDevice(DeviceRef device, std::string_view name, Bytes memory_bytes) {
  Device& known = devices_[device.index];
  std::string clean;
  appendClean(name, clean);
  known.name = std::move(clean);
  known.memory_bytes = memory_bytes;
}

TrackRef Tracks::track(std::string key, Track fresh) {
  if (tracks_.size() >= kMostTracks && track_keys_.find(key) == track_keys_.end()) {
    tally_.note(fmt::format("{}: more than {} threads, streams and counters: the others share one",
                            tally_.input().path, kMostTracks));
    key = fresh.unit == kStackUnit           ? "other stacks"
          : fresh.kind == TrackKind::counter ? "other counters"
          : fresh.kind == TrackKind::stream  ? "other streams"
                                             : "others";
    fresh.name = key;
    fresh.thread_key.clear();
  }
  const auto [found, inserted] = track_keys_.try_emplace(std::move(key), tracks_.size());
  if (inserted) tracks_.push_back(std::move(fresh));
  return {found->second};
}

TrackRef Tracks::thread(ProcessRef process, std::string_view key) {
  scratch_ = fmt::format("t{}\n{}", process.index, key);
  if (const auto found = track_keys_.find(scratch_); found != track_keys_.end()) return {found->second};
  Track fresh;
  fresh.process = process.index;
  fresh.thread_key = key.empty() ? "0" : std::string(key);
  return track(scratch_, std::move(fresh));
}

void Tracks::nameThread(TrackRef thread_or_stacks, std::string_view name) {
  std::string clean;
  appendClean(name, clean);
  Track& track = tracks_[thread_or_stacks.index];
  (track.kind == TrackKind::counter ? track.thread_name : track.name) = std::move(clean);
}

TrackRef Tracks::stacks(ProcessRef process, std::string_view thread_key) {
  scratch_ = fmt::format("k{}\n{}", process.index, thread_key);
  if (const auto found = track_keys_.find(scratch_); found != track_keys_.end()) return {found->second};
  Track fresh;
  fresh.kind = TrackKind::counter;
  fresh.process = process.index;
  fresh.thread_key = thread_key.empty() ? "0" : std::string(thread_key);
  fresh.name = "stack";
  fresh.unit = kStackUnit;
  return track(scratch_, std::move(fresh));
}

TrackRef Tracks::stream(ProcessRef process, DeviceRef device, std::string_view stream,
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

TrackRef Tracks::deviceLane(ProcessRef process, DeviceRef device, std::string_view name) {
  scratch_ = fmt::format("d{}\n{}\n{}", process.index, device.index, name);
  if (const auto found = track_keys_.find(scratch_); found != track_keys_.end()) return {found->second};
  Track fresh;
  fresh.kind = TrackKind::stream;
  fresh.process = process.index;
  fresh.device = device.index;
  fresh.name = fmt::format("{} {} {}", devices_[device.index].kind, devices_[device.index].index, name);
  return track(scratch_, std::move(fresh));
}

TrackRef Tracks::lane(ProcessRef process, std::string_view name) {
  scratch_ = fmt::format("l{}\n{}", process.index, name);
  if (const auto found = track_keys_.find(scratch_); found != track_keys_.end()) return {found->second};
  Track fresh;
  fresh.process = process.index;
  appendClean(name, fresh.name);
  return track(scratch_, std::move(fresh));
}

TrackRef Tracks::counter(ProcessRef process, std::string_view name, std::string_view unit) {
  scratch_ = fmt::format("c{}\n{}", process.index, name);
  if (const auto found = track_keys_.find(scratch_); found != track_keys_.end()) return {found->second};
  Track fresh;
  fresh.kind = TrackKind::counter;
  fresh.process = process.index;
  appendClean(name, fresh.name);
  fresh.unit = std::string(unit);
  return track(scratch_, std::move(fresh));
}

// Processes of several inputs are distinguished by their rank.
std::string Tracks::shownName(int rank, std::string_view process) const {
  const std::string prefix = fmt::format("rank {}: ", rank);
  const bool shows = shows_rank_ && has_rank_ && !process.starts_with(prefix);
  return std::string(shows ? prefix : "").append(process);
}

ProcessId Tracks::idOf(std::size_t process) {
  if (process == kOwner) process = owner_;
  if (process == Track::kNone) return {};
  Process& known = processes_[process];
  if (!known.id) {
    ProcessInfo info;
    info.pid = known.pid != 0 ? known.pid : writer_pid_;
    info.name = known.name.empty() ? fmt::format("process {}", known.key) : known.name;
    std::string clean;
    appendClean(info.name, clean);
    info.name = shownName(rank_, clean);
    info.rank = rank_;
    const bool is_systems = known.has_system_pid || (known.pid == 0 && writer_pid_ != 0);
    known.id = is_systems ? processOfSystem(info, known.host) : sink_.process(info);
  }
  return known.id;
}

DeviceId Tracks::idOf(DeviceRef device) {
  Device& known = devices_[device.index];
  if (!known.id) {
    const DeviceInfo info{known.kind, known.index, known.name, known.memory_bytes};
    known.id = sink_.device(info);
    tally_.device(info);
  }
  return known.id;
}

void Tracks::create(Track& track) {
  TrackInfo info;
  info.kind = track.kind;
  info.process = idOf(track.process);
  info.name = track.name;
  info.unit = track.unit;
  if (track.device != Track::kNone) info.device = idOf(DeviceRef{track.device});
  if (!track.thread_key.empty()) {
    std::string key;
    appendClean(track.thread_key, key);
    const bool is_stacks = track.kind == TrackKind::counter;
    std::string name = is_stacks ? track.thread_name : track.name;
    if (name.empty()) name = fmt::format("thread {}", key);
    if (!is_stacks) info.name = name;
    const auto tid = thread_ids_.find(track.thread_key);
    info.thread = sink_.thread(
        {info.process, tid != thread_ids_.end() ? tid->second : parseInteger(track.thread_key).value_or(0),
         std::move(name)});
  }
  track.id = sink_.track(info);
}

void Tracks::emit(Track& track, std::int64_t zero_ns) {
  if (track.events.empty() && track.samples.empty()) return;
  if (!track.id) create(track);
  for (Event& event : track.events) {
    event.start_ns -= zero_ns;
    event.pushed_ns -= zero_ns;
    event.ready_ns -= zero_ns;
  }
  for (CounterSample& sample : track.samples) sample.time_ns -= zero_ns;
  if (!track.events.empty()) sink_.events(track.id, track.events);
  if (!track.samples.empty()) sink_.counters(track.id, track.samples);
  track.events.clear();
  track.samples.clear();
}

// Memory is kept for the next flush: fresh pages cost as much as reading an event. But each track keeps its
// largest size.
void Tracks::boundMemory(std::size_t most_events) {
  std::size_t held = 0;
  for (const Track& track : tracks_) held += track.events.capacity() + track.samples.capacity() / 4;
  if (held <= 2 * most_events) return;
  for (Track& track : tracks_) {
    if (track.events.capacity() > most_events / 8) track.events = {};
    if (track.samples.capacity() > most_events / 2) track.samples = {};
  }
}

void Tracks::emit(std::int64_t zero_ns, std::size_t most_events) {
  for (Track& track : tracks_) emit(track, zero_ns);
  boundMemory(most_events);
}

void Tracks::beginInput() {
  processes_.clear();
  devices_.clear();
  tracks_.clear();
  process_keys_.clear();
  device_keys_.clear();
  track_keys_.clear();
  owner_ = Track::kNone;
  writer_pid_ = 0;
  thread_ids_.clear();
  rank_ = 0;
  has_rank_ = false;
  shows_rank_ = false;
}

}  // namespace pitwall::import
