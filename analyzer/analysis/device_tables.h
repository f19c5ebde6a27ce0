// What the analyses of devices, launches, threads, memory, data, ranks and the critical path found, as temp
// tables in addition to those of tables.h. A table without rows means that the trace has nothing of the kind;
// then the rules that need it say what to record. Shares are 0..1.
//
// analysis_device      one row per device and rank (devices.h says what each part means)
//   device, rank, window   'gpu 0', 0, 'whole trace' | 'steady iterations' | 'without carried-in work'
//   begin_ns, span_ns
//   computation_ns, communication_ns (exposed), copies_ns (exposed), data_wait_ns, synchronisation_ns,
//   host_wait_ns, kernel_wait_ns, idle_ns, unattributed_ns     they sum to span_ns
//   busy_ns, all_idle_ns     the first three of them; the five after those
//   communication_total_ns, copies_total_ns     with what computation hides
//   longest_gap_ns, streams, kernels, memsets, collectives, copies,
//   carried_in, carried_in_ns
// analysis_gap         the longest gaps (at most 1000): device, rank, start_ns, dur_ns, cause, next (name of
// the work
//                      that ends it)
// analysis_kernel      device work by device, rank and name: device, rank, name, class ('computation', ...),
// count,
//                      total_ns, mean_ns, min_ns, p50_ns, p99_ns, max_ns, share (of all device work),
//                      matrix (1 = matrix product or convolution, from the name), tensor_core (1 yes, 0 no,
//                      null the name does not say), blocks, threads_per_block, occupancy (null = not
//                      recorded)
// analysis_launch      one row per device and rank, of kernels and collectives (copies and memsets have calls
// of
//                      their own): launches (calls that launched one), graph_launches (calls that launched a
//                      graph) and graph_kernels, matched (kernels and collectives whose call is known),
//                      orphans, delay_mean_ns, delay_p50_ns, delay_p99_ns (end of the call until its first
//                      work starts), queue_mean (launches whose first work has not ended, seen by each),
//                      short_count, short_share_of_work (kernels, without memsets, below 10 us, of kernel
//                      time), short_share_of_count, kernel_p50_ns, host_longer_count (call longer than its
//                      kernel), launch_call_ns, graph_call_ns (of these calls), short_wait_ns (host wait in
//                      gaps below 1 ms), launching_ns (of it within calls that launch single kernels)
// analysis_copy        by device, rank and name: direction ('HtoD', ...), memory ('pageable', 'pinned',
// 'device',
//                      'unknown'), count, total_ns, bytes, bytes_per_second, exposed_ns, largest_bytes,
//                      sizes (how many different ones, at most 4096)
// analysis_call        calls of device libraries by thread and name: thread, name, class ('launch',
// 'synchronisation',
//                      'copy', 'allocation', 'memset', 'module', 'other'), count, total_ns, idle_ns (time in
//                      which every device was idle), steady_count (in steady iterations)
// analysis_name        every event name by kind and process: name, kind, track_kind, process, count, items,
// total_ns,
//                      min_ns, max_ns, class ('transfer' for operators that move data, else '')
// analysis_thread      one row per thread: thread, process, events, busy_ns, span_ns, utilisation (of the
// trace's span),
//                      cpu (mean share of a CPU), waiting_for_cpu, forced_switches, voluntary_switches (1/s),
//                      cpus_used (distinct), spin_share (CPU used outside its own events and while no
//                      operator ran); null = not sampled
// analysis_threads     one row: threads, sampled, runnable_mean (CPUs in use), waiting_mean, team_imbalance
// (of the threads
//                      that have no events of theirs: 1 - mean/max of their CPU), spin_share,
//                      distinct_cpus, migrations_per_second, usable_cpus, computing (threads that
//                      run or wait for a CPU a tenth of the time or more); spin and imbalance are null unless
//                      every operator was recorded
// analysis_counter     one row per counter track: name, unit, thread, device, process, samples, mean, min,
// max, first, last,
//                      p95
// analysis_memory      by tag or pool: tag, live_bytes (last), peak_bytes, growth_per_iteration (bytes, slope
// over
//                      the steady iterations), growth_share (last over first third), monotone (1 = never fell
//                      between iterations), reserved_bytes
// analysis_data        one row, of the process of the report, within the breakdown's window (window.h):
//                      wait_ns_per_iteration, wait_share (of the window in which its training thread waits
//                      for a batch or loads it), wait_p50_ns, wait_p95_ns, waits, producers (threads that
//                      make batches), batches, producer_ns_per_batch, producer_batches_per_second,
//                      consumer_batches_per_second, producer_busy (share of the window), producer_cpu (CPUs
//                      that one uses at most while it makes a batch, 0..1; null = not sampled)
// analysis_data_range  the same waits by the name of their range: name, count, total_ns, mean_ns, max_ns,
//                      share (of the window)
// analysis_rank        by rank: rank, process, devices, span_ns, computation_ns, communication_ns,
// exposed_ns,
//                      lateness_mean_ns (its start of a collective after the first rank's), last_share (of
//                      collectives that it entered last), collectives_compared, wait_ns (until the last rank
//                      arrived)
// analysis_collective  by device, rank and kind: collective ('all_reduce', ...), name, group_size (null =
// unknown), count,
//                      total_ns, bytes (that a rank contributes; 0 = unknown), median_bytes,
//                      algorithm_bytes_per_second, bus_bytes_per_second
// analysis_critical    the steps that determine the end of a sample of steady iterations (else of the trace):
// title,
//                      phase, on_path_ns, share (of the sample's wall time), executions (in the sample),
//                      slack_min_ns, slack_mean_ns (how much later one could end without delaying the end),
//                      part ('operator', 'call', 'kernel', 'copy', 'communication', 'data wait',
//                      'launch delay', 'device delay', 'engine overhead', 'nothing'). Rows without
//                      executions hold the gaps: shares sum to 1.
// analysis_critical_step   the same in order of time (of long paths the last 10000 steps): start_ns, dur_ns,
//                      part, title, track_id (null = a gap); each begins where the one before it ends
// analysis_critical_path   one row: begin_ns, span_ns (of the sample), device_ns, host_ns, delay_ns (of
//                      launches, streams and the engine), nothing_ns; these four sum to span_ns; steps,
//                      missing (what the path would need and the trace does not have, joined by '; ')
// analysis_follows     operators that follow each other directly on one track: first, second (ids of facts),
// count,
//                      second_ns (total of the second)
// analysis_host_gap    time of steady iterations in which no operator runs and no batch is waited for, by the
//                      operators around it: after, before, count, total_ns, short_count, short_ns (of those
//                      shorter than 100 us), outlier_ns (of longer ones, in outliers), wait_count, wait_ns
//                      (those in which a wait of the training thread for operators ends: the queue is empty),
//                      longest_ns, longest_start_ns, longest_iteration, position_share (mean begin within its
//                      iteration, 0..1)
// analysis_outlier     what takes longer in outliers than in typical iterations (means of up to 16 of each,
// time
//                      on threads without what runs within it): name, kind, outlier_ns, usual_ns, extra_ns
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
};

// Each writes its tables. Errors: corruptTrace from reading counters or dependencies. The others are in
// time_chunk_analysis.h.
Status writeDevices(Trace& trace, const Context& context);         // analysis_device, analysis_gap
Status writeMemory(Trace& trace, const Context& context);          // analysis_memory
Status writeData(Trace& trace, const Context& context);            // analysis_data
Status writeOutlierContent(Trace& trace, const Context& context);  // analysis_outlier
Status writeCriticalPath(Trace& trace, const Context& context);    // analysis_critical...
Result<PathSummary> criticalPathSummary(Trace& trace);             // of these tables
// The facts of analysis_summary about making batches.
void addDataFacts(const Trace& trace, const Context& context, std::vector<Fact>& facts);

// Appends the facts of analysis_summary about devices, launches, ranks and the framework; after the tables
// above.
void addDeviceFacts(Trace& trace, const Context& context, std::vector<Fact>& facts);
// Appends how the program ended: exit_code, exit_signal, shell_signal, oom, oom_kills.
void addEndFacts(const Trace& trace, std::vector<Fact>& facts);
// The framework of the program: "pitwall", "mxnet", "pytorch", "onednn" (a verbose log only), "unknown".
std::string frameworkOf(const Trace& trace);

}  // namespace pitwall::analysis
