// Processes, devices and tracks of one input, with the buffered events of each track. The sink's ids are
// created when a track is first written, so that names which come late in a file are used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "db/import/build/joined_processes.h"
#include "db/import/build/phases.h"
#include "db/import/build/tally.h"
#include "db/sink.h"

namespace pitwall::import {

struct ProcessRef {
  std::size_t index = 0;
};
struct DeviceRef {
  std::size_t index = 0;
};
struct TrackRef {
  std::size_t index = 0;
};

struct Track {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  TrackKind kind = TrackKind::thread;
  std::size_t process = kNone;
  std::size_t device = kNone;
  std::string thread_key;   // of a thread or its stacks; else empty
  std::string thread_name;  // of stacks
  std::string name;
  std::string unit;
  TrackId id;
  std::vector<Event> events;
  std::vector<CounterSample> samples;
  std::vector<std::int64_t> open;  // see Nesting
  Phases::Thread phases;
};

class Tracks {
 public:
  Tracks(TraceSink& sink, Tally& tally) : sink_(sink), tally_(tally) {}

  // Equal keys give equal handles within one input.
  ProcessRef process(std::string_view key);
  void nameProcess(ProcessRef process, std::string_view name);
  // The system's number of a process, and its host where the input says it for each process.
  void setPid(ProcessRef process, std::int64_t pid, std::string_view host = {});
  // The process's key is that number, not one of a device, a row, or of the file alone.
  void keyIsPid(ProcessRef process) { processes_[process.index].has_system_pid = true; }
  // Processes whose number is the system's may be recorded ones.
  void joinWith(const JoinedProcesses& joined) { joined_ = &joined; }
  // The recorded process that this one is, else a new one; its number is the system's.
  ProcessId processOfSystem(const ProcessInfo& info, std::string_view host = {});
  void rank(int rank);  // of all processes of this input
  int rankOr(int unknown) const { return has_rank_ ? rank_ : unknown; }
  // Of the process that wrote this input, for processes that the file names otherwise; 0 = unknown.
  void writer(std::int64_t pid) { writer_pid_ = pid; }
  // The system's id of the thread that the file calls `key`.
  void threadId(std::string key, std::int64_t tid) { thread_ids_[std::move(key)] = tid; }
  // From now on until the next input, names of processes begin with their rank, if it is known.
  void showRank() { shows_rank_ = true; }
  std::string shownName(int rank, std::string_view process) const;
  DeviceRef device(std::string_view kind, int index);
  void nameDevice(DeviceRef device, std::string_view name, Bytes memory_bytes);
  TrackRef thread(ProcessRef process, std::string_view key);
  // The sampled stacks of a thread: a counter of the unit kStackUnit.
  TrackRef stacks(ProcessRef process, std::string_view thread_key);
  void nameThread(TrackRef thread_or_stacks, std::string_view name);
  TrackRef stream(ProcessRef process, DeviceRef device, std::string_view stream,
                  std::string_view suffix = {});
  // A row of a device that is no stream: "gpu 0 NAME".
  TrackRef deviceLane(ProcessRef process, DeviceRef device, std::string_view name);
  // For a stream or counter of which the file does not say whose it is: the process that ownerProcess() sets
  // before the track's first flush.
  static ProcessRef owner() { return {kOwner}; }
  void ownerProcess(ProcessRef process) {
    if (owner_ == Track::kNone) owner_ = process.index;
  }
  // A row that is neither a thread nor a stream: asynchronous ranges, annotations.
  TrackRef lane(ProcessRef process, std::string_view name);
  TrackRef counter(ProcessRef process, std::string_view name, std::string_view unit);

  Track& operator[](TrackRef track) { return tracks_[track.index]; }
  std::vector<Track>& all() { return tracks_; }

  void beginInput();
  // Writes the buffers, whose times become trace times by subtracting `zero_ns`. Where they are too large for
  // `most_events`, their memory is freed too.
  void emit(std::int64_t zero_ns, std::size_t most_events);

 private:
  struct Process {
    std::string key;
    std::string name;
    std::int64_t pid = 0;
    bool has_system_pid = false;
    std::string host;
    ProcessId id;
  };
  struct Device {
    std::string kind;
    int index = 0;
    std::string name;
    Bytes memory_bytes = 0;
    DeviceId id;
  };
  static constexpr std::size_t kOwner = Track::kNone - 1;

  TrackRef track(std::string key, Track fresh);
  void create(Track& track);
  void emit(Track& track, std::int64_t zero_ns);
  void boundMemory(std::size_t most_events);
  ProcessId idOf(std::size_t process);
  DeviceId idOf(DeviceRef device);

  TraceSink& sink_;
  Tally& tally_;
  std::vector<Process> processes_;
  std::vector<Device> devices_;
  std::vector<Track> tracks_;
  std::unordered_map<std::string, std::size_t> process_keys_;
  std::unordered_map<std::string, std::size_t> device_keys_;
  std::unordered_map<std::string, std::size_t> track_keys_;
  const JoinedProcesses* joined_ = nullptr;
  std::string scratch_;
  std::size_t owner_ = Track::kNone;
  std::int64_t writer_pid_ = 0;
  std::unordered_map<std::string, std::int64_t> thread_ids_;
  int rank_ = 0;
  bool has_rank_ = false;
  bool shows_rank_ = false;
};

}  // namespace pitwall::import
