#include "db/import/perfetto/pftrace_tracks.h"

#include <fmt/format.h>

#include <algorithm>

#include "db/import/input/protobuf.h"

namespace pitwall::import {
namespace {

std::int64_t small(const ProtoField& field) { return static_cast<std::int32_t>(field.value); }

std::string_view baseName(std::string_view command) {
  return command.substr(command.find_last_of('/') == std::string_view::npos ? 0
                                                                            : command.find_last_of('/') + 1);
}

}  // namespace

PftraceTracks::Known& PftraceTracks::known(std::uint64_t uuid) {
  if (const auto found = tracks_.find(uuid); found != tracks_.end()) return found->second;
  return tracks_[tracks_.size() < kMost || uuid == kShared ? uuid : shared(uuid)];
}

std::uint64_t PftraceTracks::shared(std::uint64_t uuid) {
  builder_.tally().repaired(fmt::format("uses of tracks beyond the first {}: these tracks share one", kMost),
                            [&] { return fmt::format("track {}", uuid); });
  return kShared;
}

ProcessRef PftraceTracks::processOfPid(std::int64_t pid) {
  const ProcessRef process = builder_.tracks().process(std::to_string(std::max<std::int64_t>(0, pid)));
  builder_.tracks().keyIsPid(process);
  return process;
}

void PftraceTracks::nameThread(std::int64_t pid, std::int64_t tid, std::string_view name) {
  if (name.empty() || tid < 0) return;
  const ProcessRef process = processOfPid(pid);
  builder_.tracks().nameThread(builder_.tracks().thread(process, std::to_string(tid)), name);
}

void PftraceTracks::readProcess(std::string_view message, Known& track) {
  std::string_view name;
  std::string_view command;
  ProtoMessage fields(message);
  for (ProtoField field; fields.next(field);) {
    if (field.number == 1 && !field.is_bytes) track.pid = small(field);
    if (field.number == 2 && field.is_bytes && command.empty()) command = field.bytes;
    if (field.number == 6 && field.is_bytes) name = field.bytes;
  }
  if (name.empty()) name = baseName(command);
  if (track.pid >= 0 && !name.empty()) builder_.tracks().nameProcess(processOfPid(track.pid), name);
}

void PftraceTracks::readThread(std::string_view message, Known& track) {
  std::string_view name;
  ProtoMessage fields(message);
  for (ProtoField field; fields.next(field);) {
    if (field.number == 1 && !field.is_bytes) track.pid = small(field);
    if (field.number == 2 && !field.is_bytes) track.tid = small(field);
    if (field.number == 5 && field.is_bytes) name = field.bytes;
  }
  nameThread(track.pid, track.tid, name);
}

void PftraceTracks::readCounter(std::string_view message, Known& track) {
  constexpr const char* kUnits[] = {"", "ns", "items", "bytes"};
  ProtoMessage fields(message);
  for (ProtoField field; fields.next(field);) {
    if (field.number == 3 && !field.is_bytes && field.value < 4 && track.unit.empty())
      track.unit = kUnits[field.value];
    if (field.number == 4 && !field.is_bytes && field.value != 0)
      track.multiplier = static_cast<double>(field.integer());
    if (field.number == 5 && !field.is_bytes) track.incremental = field.value != 0;
    if (field.number == 6 && field.is_bytes) track.unit = std::string(field.bytes.substr(0, 64));
  }
}

void PftraceTracks::descriptor(std::string_view message) {
  std::uint64_t uuid = 0;
  ProtoMessage numbers(message);
  for (ProtoField field; numbers.next(field);) {
    if (field.number == 1 && !field.is_bytes) uuid = field.value;
  }
  Known& track = known(uuid);
  track.described = true;
  ProtoMessage fields(message);
  for (ProtoField field; fields.next(field);) {
    if (!field.is_bytes) {
      if (field.number == 5) track.parent = field.value;
      continue;
    }
    switch (field.number) {
      case 2:
      case 10:
      case 13:
        track.name = std::string(field.bytes.substr(0, 1024));
        break;  // name, static_name, atrace_name
      case 3: readProcess(field.bytes, track); break;
      case 4: readThread(field.bytes, track); break;
      case 8: readCounter(field.bytes, track); break;
      default: break;
    }
  }
  if (track.tid >= 0 && !track.name.empty()) nameThread(track.pid, track.tid, track.name);
}

void PftraceTracks::processTree(std::string_view message) {
  ProtoMessage fields(message);
  for (ProtoField field; fields.next(field);) {
    if (!field.is_bytes) continue;
    std::int64_t id = -1;
    std::int64_t owner = -1;
    std::string_view name;
    std::string_view command;
    ProtoMessage members(field.bytes);
    for (ProtoField member; members.next(member);) {
      if (member.number == 1 && !member.is_bytes) id = small(member);
      if (member.number == 2 && member.is_bytes) name = member.bytes;
      if (member.number == 3 && !member.is_bytes) owner = small(member);
      if (member.number == 3 && member.is_bytes && command.empty()) command = member.bytes;
    }
    if (id < 0) continue;
    if (field.number == 1 && !command.empty())
      builder_.tracks().nameProcess(processOfPid(id), baseName(command));
    if (field.number == 2) nameThread(owner, id, name);
  }
}

TrackRef PftraceTracks::thread(std::string_view thread_descriptor) {
  Known track;
  readThread(thread_descriptor, track);
  const ProcessRef process = processOfPid(track.pid);
  return builder_.tracks().thread(process, std::to_string(track.tid < 0 ? 0 : track.tid));
}

// The track's own, or that of what encloses it.
ProcessRef PftraceTracks::processOf(const Known& track) {
  const Known* at = &track;
  for (int depth = 0; depth < 16 && at->pid < 0 && at->parent != 0; ++depth) {
    const auto found = tracks_.find(at->parent);
    if (found == tracks_.end()) break;
    at = &found->second;
  }
  if (at->pid >= 0) return processOfPid(at->pid);
  const ProcessRef none = builder_.tracks().process("trace");
  builder_.tracks().nameProcess(none, "trace");
  return none;
}

// Tracks of one name get a number, since ranges nest within each of them only.
std::string PftraceTracks::ownName(ProcessRef process, const Known& track, std::uint64_t uuid) {
  std::string name = !track.name.empty() ? track.name
                     : track.pid >= 0    ? std::string("process")
                     : uuid == 0         ? std::string("default track")
                     : uuid == kShared   ? std::string("other tracks")
                                         : fmt::format("track {}", uuid);
  const int number = ++names_[{process.index, name}];
  return number == 1 ? name : fmt::format("{} #{}", name, number);
}

TrackRef PftraceTracks::track(std::uint64_t uuid) {
  Known& track = known(uuid);
  if (track.has_track) return track.track;
  track.has_track = true;
  if (!track.described && uuid != 0)
    builder_.tally().repaired("events of a track that is not described before them: on a row of its number",
                              [&] { return fmt::format("track {}", uuid); });
  if (track.tid >= 0) {
    const ProcessRef process = processOfPid(track.pid);
    track.track = builder_.tracks().thread(process, std::to_string(track.tid));
  } else {
    const ProcessRef process = processOf(track);
    track.track = builder_.tracks().lane(process, ownName(process, track, uuid));
  }
  return track.track;
}

PftraceTracks::Counter& PftraceTracks::counter(std::uint64_t uuid) {
  const auto found = counters_.find(uuid);
  if (found != counters_.end()) return found->second;
  const std::uint64_t key = counters_.size() < kMost ? uuid : shared(uuid);
  const auto [entry, fresh] = counters_.try_emplace(key);
  if (!fresh) return entry->second;
  const Known& track = known(key);
  const ProcessRef process = processOf(track);
  Counter& made = entry->second;
  made.track = builder_.tracks().counter(process, ownName(process, track, key), track.unit);
  made.multiplier = track.multiplier;
  made.incremental = track.incremental;
  return made;
}

}  // namespace pitwall::import
