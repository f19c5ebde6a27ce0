// Kernels of devices by name and launch: how often, how long, their grid, block, registers and shared memory, and
// their occupancy.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "gui/timeline/hit.h"

namespace pitwall::gui {

// Launches of one kernel with equal facts.
struct KernelGroup {
  std::string name, label;  // whole, and short as on the timeline
  KernelFacts facts;        // all unknown where the trace records none
  std::int64_t count = 0;
  TimeNs total_ns = 0, longest_ns = 0;
  std::optional<EventRef> longest;
  // Of the warps that a multiprocessor holds, 0..1: how many were active while it ran, the mean over the time of all
  // executions of this name that were counted in hardware. Unknown: the trace has no such counter.
  std::optional<double> achieved_occupancy;

  std::int64_t blocks() const;   // 0 = unknown
  std::int64_t threads() const;  // of a block; 0 = unknown
  Bytes sharedBytes() const { return facts.static_shared_bytes + facts.dynamic_shared_bytes; }
};

// Of all streams, in any order. A PyTorch trace with hardware counters has a range for each kernel instead
// of the kernel: it counts as one if the import joined it to a launch. Errors: those of reading; cancelled.
Result<std::vector<KernelGroup>> kernelGroups(Trace& trace, const Timeline& timeline,
                                              const std::atomic<bool>& cancel);

}  // namespace pitwall::gui
