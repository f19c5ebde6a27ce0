// Where each device's time goes, and why it is idle.
//
// At each moment of a device's window exactly one of these applies, the first whose condition is true:
//   computation      a kernel or memset runs on any of its streams
//   communication    none, but a collective does (exposed communication)
//   copies           none of those, but a copy does
//   data wait, synchronisation, host wait
//                    nothing runs, and the work that ends the gap was launched after the gap began: the queue
//                    was empty. Data wait while a program that the device works for waited for its batch,
//                    synchronisation while a thread of it waited for a device, else host wait.
//   kernel wait      nothing runs although the next work was launched before, for at most 10 us: the
//                    device itself
//   idle             other gaps: work that waits for another stream, or whose launch is not in the trace
//   unattributed     nothing is known to run, but the recorder lost events then
// So the parts sum to the window exactly.
//
// The window is the span of the steady iterations, when there are three or more; else from the first to the
// last work. Work without a launch before the first step that is annotated on the device was launched
// earlier: it is counted as carried in and left out.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "analyzer/analysis/activity.h"
#include "analyzer/analysis/iterations.h"
#include "analyzer/analysis/launch_index.h"
#include "analyzer/analysis/time_chunks.h"
#include "analyzer/report.h"

namespace pitwall::analysis {

// A longer gap is not the cost of one launch.
inline constexpr TimeNs kLongGapNs = 1'000'000;

enum class DevicePart : std::uint8_t {
  computation,
  communication,
  copies,
  dataWait,
  synchronisation,
  hostWait,
  kernelWait,
  otherIdle,
};
inline constexpr std::size_t kDeviceParts = 8;
// "computation", "communication", "copies", "data wait", "synchronisation", "host wait", "kernel wait",
// "idle"
const char* toString(DevicePart part);

struct DeviceTimes {
  DeviceId device;
  int rank = 0;
  std::string name;    // "gpu 0"
  std::string window;  // "steady iterations", "whole trace", "without carried-in work"
  TimeNs begin_ns = 0, end_ns = 0;
  std::array<TimeNs, kDeviceParts> parts{};
  TimeNs unattributed_ns = 0;                // of no part: events are missing
  TimeNs busy_ns = 0, idle_ns = 0;           // they and what is unattributed sum to the window
  TimeNs communication_ns = 0, copy_ns = 0;  // with what computation hides
  TimeNs longest_gap_ns = 0;
  TimeNs short_wait_ns = 0;  // host wait in gaps below kLongGapNs: the host's work for each launch
  TimeNs launching_ns = 0;   // of it within calls that launch single kernels
  std::int64_t work = 0, kernels = 0, memsets = 0, collectives = 0, copies = 0, streams = 0;
  std::int64_t carried_in = 0;
  TimeNs carried_in_ns = 0;
};

struct Gap {
  std::size_t device = 0;  // index of the DeviceTimes
  TimeNs start_ns = 0, dur_ns = 0;
  DevicePart cause = DevicePart::otherIdle;  // the largest part
  StringId next;                             // name of the work that ends it
};

struct Devices {
  std::vector<DeviceTimes> all;
  std::vector<Gap> gaps;  // longest first, at most 1000
  std::int64_t gap_count = 0;
};

// One device within one time chunk.
struct DeviceChunk {
  TimeNs from_ns = 0, to_ns = 0;        // of the time chunk
  std::vector<const DeviceWork*> work;  // that starts in it and belongs to the window, in order of time
  Intervals computation, idle;          // disjoint, within the time chunk and the window
};

// Divides each device's time, one time chunk after the other.
class DeviceSweep {
 public:
  // Determines the devices and their windows, which takes a pass over the work. The arguments must outlive
  // it. Errors: corruptTrace; cancelled.
  static Result<DeviceSweep> make(Trace& trace, TimeChunkReader& chunks,
                                  std::span<const Iteration> iterations);

  // In order of time. Loads the launches of the time chunk's work. Errors: corruptTrace.
  Status add(const TimeChunk& chunk);
  // Of the time chunk added last: one entry per device; they point into that time chunk.
  std::span<const DeviceChunk> chunks() const { return chunks_; }
  const LaunchIndex& launches() const { return launches_; }
  // See LaunchIndex.
  Status loadOperatorsOfCalls() { return launches_.loadOperators(*trace_); }
  std::size_t count() const { return devices_.all.size(); }

  // After the last time chunk.
  Devices finish();

 private:
  // The state of the sweep for a device.
  struct State {
    TimeNs step_begin_ns = INT64_MAX;  // of the first step that is annotated on it
    bool leaves_out = false;           // carried-in work
    std::vector<std::size_t> tracks;   // its streams: places in Activity::tracks
    std::array<TimeNs, 3> running_until_ns{INT64_MIN, INT64_MIN, INT64_MIN};  // by class of work
    bool gap_is_open = false;
    TimeNs gap_begin_ns = 0;
    TimeNs gap_launching_ns = 0;             // within the open gap
    std::vector<bool> hosts;                 // by track: of a process that the device works for
    Intervals launching;                     // their calls that last beyond the time chunks so far
    Intervals losses;                        // of the device's events
    Intervals data_waits, synchronisations;  // of the processes that it works for
  };
  struct Bounds {
    bool any = false, any_steady = false;
    TimeNs begin_ns = INT64_MAX, end_ns = 0;
    void add(const DeviceWork& work, const Interval& steady);
  };

  DeviceSweep(Trace& trace, const Activity& activity, Interval steady);
  void collect();
  DeviceTimes describe(DeviceId id, int rank) const;
  Status findWindows(TimeChunkReader& chunks);
  bool isCarriedIn(const State& state, const DeviceWork& work) const;
  void choose(std::size_t device, const TimeChunk& chunk);
  void divide(std::size_t device);
  Intervals launchingIn(State& state, const TimeChunk& chunk) const;
  void closeGaps(std::size_t device, const Intervals& launching, bool is_last);
  void explainGap(std::size_t device, Interval gap, const DeviceWork* next);
  void collectWaits(State& state) const;
  DevicePart explain(const State& state, DeviceTimes& device, const Interval& gap,
                     const HostCall* launch) const;
  void shortenGaps();

  Trace* trace_;
  const Activity* activity_;
  std::vector<bool> launches_kernel_;  // by name
  Interval steady_;
  LaunchIndex launches_;
  std::vector<State> states_;
  std::vector<DeviceChunk> chunks_;
  Devices devices_;
};

// The breakdown by device parts instead of operator phases; times are summed over the devices.
void summarizeDevices(const Devices& devices, Breakdown& breakdown);

}  // namespace pitwall::analysis
