// An analysis that looks at a trace slice by slice and writes its tables at the end.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "analyzer/analysis/device_tables.h"
#include "analyzer/analysis/devices.h"
#include "analyzer/analysis/iterations.h"
#include "analyzer/analysis/launch_index.h"
#include "analyzer/analysis/slices.h"

namespace pitwall::analysis {

struct SliceView {
  const Slice& slice;
  std::span<const DeviceSlice> devices;
  const LaunchIndex& launches;  // of the slice's work
};

class SliceAnalysis {
 public:
  virtual ~SliceAnalysis() = default;
  // In order of time; the view is valid during the call.
  virtual void add(const SliceView& now) = 0;
  // After the last slice.
  virtual Status write(Trace& trace, const Context& context) = 0;
};

std::unique_ptr<SliceAnalysis> analyzeKernels(std::size_t devices);                       // analysis_kernel
std::unique_ptr<SliceAnalysis> analyzeLaunches(const Trace& trace, std::size_t devices);  // analysis_launch
std::unique_ptr<SliceAnalysis> analyzeCopies(std::size_t devices);                        // analysis_copy
// analysis_rank, analysis_collective
std::unique_ptr<SliceAnalysis> analyzeRanks(const Trace& trace, std::size_t devices);
std::unique_ptr<SliceAnalysis> analyzeCalls(
    std::span<const Iteration> iterations);  // analysis_call, analysis_name
// analysis_counter, analysis_thread(s). Errors: corruptTrace from reading counters.
Result<std::unique_ptr<SliceAnalysis>> analyzeThreads(Trace& trace, const Activity& activity);
std::unique_ptr<SliceAnalysis> analyzeFollows(const Trace& trace);  // analysis_follows
// analysis_host_gap; both must outlive it.
std::unique_ptr<SliceAnalysis> analyzeHostGaps(const Timeline& timeline,
                                               std::span<const Iteration> iterations);

}  // namespace pitwall::analysis
