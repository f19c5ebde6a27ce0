// Writes activities into a trace: tracks of streams and threads, dependencies from launches to device work,
// counters of memory, losses.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "db/sink.h"
#include "runtime/profiler.h"
#include "runtime/profiler/cupti/activity.h"

namespace pitwall::cupti {

// One per recording. Used by one thread at a time.
class ActivityWriter {
 public:
  // The activities of one drain, in any order. Those that ended before the recording began are left out. All
  // calls use texts of the same Texts.
  void write(const Activities& activities, DrainContext& context);

  // `count` records have been lost, for this reason, since the last call.
  void lost(std::int64_t count, const std::string& reason, DrainContext& context);

 private:
  struct Device {
    DeviceId id;
    DeviceFacts facts;
  };
  struct Track {
    TrackId id;
    std::vector<Event> events;  // of this drain
  };
  struct LaunchKey {
    LaunchFacts launch;
    std::uint32_t device = 0;
    bool operator==(const LaunchKey&) const = default;
  };
  struct LaunchHash {
    std::size_t operator()(const LaunchKey& key) const;
  };

  DeviceId deviceOf(std::uint32_t index, DrainContext& context);
  std::uint32_t deviceIndexOf(const Activity& activity) const;
  Track& trackOf(const Activity& activity, DrainContext& context);
  TrackId newTrack(const Activity& activity, std::uint32_t device, DrainContext& context);
  StringId stringOf(const Text* text, DrainContext& context);
  KernelId kernelOf(const Activity& activity, const Activities& activities, DrainContext& context);
  CorrelationId correlationOf(const Activity& activity);
  void findInnerCalls(const Activities& activities);
  void dropQueries(const Activities& activities);
  void writeMemory(const std::vector<MemoryChange>& changes, DrainContext& context);
  void writeCounters(const std::vector<CounterValue>& values, DrainContext& context);
  void addEvent(const Activity& activity, const Activities& activities, DrainContext& context);
  void writeEvents(const Activities& activities, DrainContext& context);

  std::map<std::uint32_t, Device> devices_;
  std::unordered_map<std::uint32_t, std::uint32_t> device_of_context_;
  std::unordered_map<std::uint64_t, Track> tracks_;
  std::unordered_map<LaunchKey, KernelId, LaunchHash> kernels_;
  std::vector<StringId> strings_;  // by Text::number
  struct Memory {
    TrackId track;
    double live = 0;
  };
  std::map<std::string, Memory> memory_;
  std::map<std::pair<std::uint32_t, const Text*>, TrackId> counters_;
  std::unordered_set<std::uint32_t> inner_calls_;  // correlations of this drain's
  // Of the last drain: their calls may come in this one.
  std::vector<Activity> waits_, earlier_waits_;
  std::vector<Dependency> dependencies_;
  std::uint64_t next_device_work_ = 0;
  TimeNs lost_until_ = 0;
  std::int64_t of_another_clock_ = 0;
};

// How overlapping ranges of one track nest: sorted by start, longer first, each one level below the one that
// contains it.
void setDepths(std::vector<Event>& events);

}  // namespace pitwall::cupti
