// An analysis that reads a trace one time chunk after the other and writes its tables at the end.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "analyzer/analysis/device_tables.h"
#include "analyzer/analysis/devices.h"
#include "analyzer/analysis/iterations.h"
#include "analyzer/analysis/launch_index.h"
#include "analyzer/analysis/time_chunks.h"

namespace pitwall::analysis {

struct TimeChunkView {
  const TimeChunk& chunk;
  std::span<const DeviceChunk> devices;
  const LaunchIndex& launches;  // of the time chunk's work
};

class TimeChunkAnalysis {
 public:
  virtual ~TimeChunkAnalysis() = default;
  // In order of time; the view is valid during the call.
  virtual void add(const TimeChunkView& now) = 0;
  // After the last time chunk.
  virtual Status write(Trace& trace, const Context& context) = 0;
};

std::unique_ptr<TimeChunkAnalysis> analyzeKernels(std::size_t devices);  // analysis_kernel
std::unique_ptr<TimeChunkAnalysis> analyzeLaunches(const Trace& trace,
                                                   std::size_t devices);  // analysis_launch
std::unique_ptr<TimeChunkAnalysis> analyzeCopies(std::size_t devices);    // analysis_copy
// analysis_rank, analysis_collective
std::unique_ptr<TimeChunkAnalysis> analyzeRanks(const Trace& trace, std::size_t devices);
std::unique_ptr<TimeChunkAnalysis> analyzeCalls(
    std::span<const Iteration> iterations);  // analysis_call, analysis_name
// analysis_counter, analysis_thread(s). Errors: corruptTrace from reading counters.
Result<std::unique_ptr<TimeChunkAnalysis>> analyzeThreads(Trace& trace, const Activity& activity);
std::unique_ptr<TimeChunkAnalysis> analyzeFollows(const Trace& trace);  // analysis_follows
// analysis_host_gap; both must outlive it.
std::unique_ptr<TimeChunkAnalysis> analyzeHostGaps(const Timeline& timeline,
                                                   std::span<const Iteration> iterations);

}  // namespace pitwall::analysis
