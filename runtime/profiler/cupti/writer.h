// Writes activities into a trace: tracks of streams and threads, dependencies from launches to device work,
// counters of memory, losses.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "db/sink.h"
#include "runtime/profiler.h"
#include "runtime/profiler/cupti/activity.h"

namespace pitwall::cupti {

// One per recording. Used by one thread at a time.
class ActivityWriter {
 public:
  // The activities of one drain, in any order. Those that ended before the recording began are left out.
  void write(const Activities& activities, DrainContext& context);

  // `count` records have been lost, for this reason, since the last call.
  void lost(std::int64_t count, const std::string& reason, DrainContext& context);

 private:
  struct Device {
    DeviceId id;
    DeviceFacts facts;
  };

  DeviceId deviceOf(std::uint32_t index, DrainContext& context);
  std::uint32_t deviceIndexOf(const Activity& activity) const;
  TrackId trackOf(const Activity& activity, DrainContext& context);
  KernelId kernelOf(const Activity& activity, DrainContext& context);
  CorrelationId correlationOf(const Activity& activity);
  void writeMemory(const std::vector<MemoryChange>& changes, DrainContext& context);
  void writeEvents(const Activities& activities, DrainContext& context);

  std::map<std::uint32_t, Device> devices_;
  std::unordered_map<std::uint32_t, std::uint32_t> device_of_context_;
  std::map<std::string, TrackId> tracks_;
  struct Memory {
    TrackId track;
    double live = 0;
  };
  std::map<std::string, Memory> memory_;
  std::unordered_set<std::uint32_t> runtime_calls_;  // correlations of this drain's
  std::vector<Dependency> dependencies_;
  std::uint64_t next_device_work_ = 0;
  TimeNs lost_until_ = 0;
};

// How overlapping ranges of one track nest: sorted by start, longer first, each one level below the one that
// contains it.
void setDepths(std::vector<Event>& events);

}  // namespace pitwall::cupti
