// Where each device's time goes, and why it is idle.
//
// At each moment of a device's window exactly one holds, the first that applies:
//   computation      a kernel runs on any of its streams
//   communication    none, but a collective does (exposed communication)
//   copies           none of those, but a copy or memset does
//   data wait, synchronisation, host wait     nothing runs, and the work that ends the gap was launched after
//   the
//                    gap began: the queue was empty. Data wait while the program waited for its batch,
//                    synchronisation while a host thread waited for the device, else host wait.
//   kernel wait      nothing runs although the next work was launched before, for at most 10 us: the device
//   itself idle             other gaps: work that waits for another stream, or whose launch is not in the
//   trace
// So the parts sum to the window exactly. Linear in the work, plus the sort of its streams into one order.
//
// The window is the span of the steady iterations, when there are three or more; else from the first to the
// last work. Work without a launch before the first step that is annotated on the device was left over from
// before: it is counted as carried in and left out.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "analyzer/analysis/activity.h"
#include "analyzer/analysis/iterations.h"
#include "analyzer/report.h"

namespace pitwall::analysis {

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
  TimeNs communication_ns = 0, copy_ns = 0;  // with what computation hides
  TimeNs longest_gap_ns = 0;
  std::int64_t kernels = 0, collectives = 0, copies = 0, streams = 0;
  std::int64_t carried_in = 0;
  TimeNs carried_in_ns = 0;
  Intervals computation, busy, idle;    // disjoint, within the window
  std::vector<const DeviceWork*> work;  // in the window, ordered by start
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

Devices analyzeDevices(const Trace& trace, const Activity& activity, const LaunchIndex& launches,
                       std::span<const Iteration> iterations);

// The breakdown by device parts instead of operator phases; times are summed over the devices.
void summarizeDevices(const Devices& devices, Breakdown& breakdown);

}  // namespace pitwall::analysis
