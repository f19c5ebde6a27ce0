// The analyses of devices, launches, threads, memory, data and ranks: what they need, and what writes their
// tables. A table without rows means that the trace has nothing of the kind; then the rules
// that need it say what to record.
#pragma once

#include "analyzer/analysis/activity.h"
#include "analyzer/analysis/devices.h"
#include "analyzer/analysis/iterations.h"
#include "analyzer/analysis/summary.h"
#include "analyzer/analysis/time_chunks.h"
#include "analyzer/report.h"
#include "db/reader.h"

namespace pitwall::analysis {

// What the analyses need after all time chunks have been read.
struct Context {
  const Activity& activity;
  TimeChunkReader& chunks;
  const Devices& devices;
  const Timeline& timeline;
  const Iterations& iterations;
  std::span<const std::uint32_t> executions;  // of operators, that start in each iteration
  const Breakdown& breakdown;
  bool operators_launch_work;  // on a device
};

// Each writes its tables. Errors: corruptTrace from reading counters or dependencies. The others are in
// time_chunk_analysis.h.
Status writeDevices(Trace& trace, const Context& context);  // analysis_device, analysis_gap
Status writeMemory(Trace& trace, const Context& context);   // analysis_memory
Status writeData(Trace& trace,
                 const Context& context);  // analysis_data, analysis_data_range, analysis_data_work
Status writeOutlierContent(Trace& trace, const Context& context);  // analysis_outlier
Status writeKVStore(Trace& trace, const Context& context);         // analysis_kvstore, analysis_kvstore_rank
// The facts of analysis_summary about making batches.
void addDataFacts(const Trace& trace, const Context& context, std::vector<Fact>& facts);

// Appends the facts of analysis_summary about devices, launches, ranks and the framework; after the tables
// above.
void addDeviceFacts(Trace& trace, const Context& context, std::vector<Fact>& facts);
// Appends how the program ended: exit_code, exit_signal, shell_signal, oom, oom_kills.
void addEndFacts(const Trace& trace, std::vector<Fact>& facts);
// The framework of the program: "pitwall", "mxnet", "pytorch", "onednn" (a verbose log only), "unknown".
std::string frameworkOf(const Trace& trace);

// "order only", "sums only", "serialised kernels"; empty = events with their times.
std::string timelineKindOf(const Trace& trace);

}  // namespace pitwall::analysis
