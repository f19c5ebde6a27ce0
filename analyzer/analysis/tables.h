// The results of the analyses as temp tables of the trace's connection, so that rules and users ask the same
// tables in SQL.
//
// analysis_iteration   one row per iteration
//   iteration          index, as the program counts it
//   role               'steady', 'warm-up', 'last', 'outlier' (left out of the sums)
//   is_outlier         1 = far from the median; those that take much of the time stay steady
//   start_ns, dur_ns   since the trace's start
//   items              samples; 0 = unknown
//   forward_ns, backward_ns, update_ns, other_operators_ns, communication_ns, data_wait_ns,
//   engine_overhead_ns, idle_ns, unattributed_ns    where dur_ns went; they sum to it
//
// analysis_breakdown   one row per category, over the steady iterations
//   category           'forward', ..., 'data wait', 'engine overhead', 'idle', 'unattributed'
//   total_ns, share    share of wall time, 0..1
//
// analysis_operator    one row per distinct operator, executions in steady iterations
//   op                 id of its facts; 0 = none
//   title              layer and type, for people
//   name, layer, phase, shapes
//   count              executions
//   total_ns, mean_ns, min_ns, p10_ns, p50_ns, p90_ns, p99_ns, queued_mean_ns
//   share              of self_ns of all, 0..1
//   flop, bytes_read, bytes_written      of one execution
//   dtype, backend, implementation       as the library reports them; may be empty
//   flop_per_second, bytes_per_second    0 = unknown
//   roofline_share         the larger of both against the machine's roofline (`pitwall env --calibrate`);
//   null = not known self_ns            total_ns without operators that run within it on the same thread
//   device_ns          device work that it launched itself, not an operator within it; total
//
// analysis_setting     one row per setting of the catalogue that the trace names or that has a default
//   name, value        value in effect, text
//   source             'default', 'environment', 'program'
//   owner, status      as in the catalogue
//   in_trace           1 when the recorded program reported it
//   readable           1 when the recorded program reads it: honoured by its runtime and reported, or read by
//   a
//                      library that it has loaded
//
// analysis_thread_trial   the median iteration by number of OpenMP threads, one row for each number tried
//   threads, iteration_ns
//
// analysis_batch       the time of an iteration by batch size: the trace's own, those of --trial, and what a
// line
//                      through each operator's times predicts from three tried ones on
//   batch, is_measured, iteration_ns, low_ns, high_ns
//   slower, slower_ns  the operator that costs most more for an item than with the trace's own batch
//
// analysis_tunable     the tunables that the program declared
//   name, value, default_value, minimum, maximum, source
//
// analysis_fact        key, value: the same facts as analysis_summary, one a row
// analysis_summary     one row, one column per fact; null = unknown
//   iteration_source, repetitions_per_iteration (of a sequence that repeats too often to separate each
//   repetition; else 1), iterations, steady_iterations, outlier_iterations,
//   outlier_period (they begin every so many iterations; null = not regularly)
//   wall_ns, iteration_median_ns, iteration_mean_ns, iteration_p90_ns, iteration_cov (0..1, without outliers)
//   items_per_iteration, items_per_second
//   coverage (what was recorded of the program: 'operators and devices', 'operators', 'devices', 'library
//   calls', 'ranges', 'samples', 'none'), has_samples, has_ranges, has_library_calls, has_operators,
//   has_devices (0, 1), logged_library ('oneDNN': whose calls were recorded) forward_share, backward_share,
//   update_share, other_operators_share, operators_share (those four), data_wait_share,
//   engine_overhead_share, idle_share, unattributed_share        of wall time, 0..1; null where the trace
//   could not have shown such time (idle_share where only calls of a library were recorded)
//   operators_per_iteration, operator_total_ns (overlapping ones each in full), operator_concurrency (mean
//   number running while any runs), operator_tracks (threads and streams that ran operators)
//   data_work_ns_per_iteration, data_work_tracks (threads that make batches), data_work_in_training_share
//   (0..1), all within the breakdown's window (window.h)
//   recorded_ns (from the first event to the last: what the sums of analysis_name and analysis_call are of;
//   of samples alone, the whole recording)
//   recorder_share (recorder's own CPU time of the trace's span, 0..1), lost_events, losses, trace_complete
//   (0, 1) from the trace's meta table: usable_cpus, usable_cores, logical_cpus, physical_cores,
//   memory_bytes, l2_cache_bytes, l3_cache_bytes, blas, openmp_runtime, openmp_threads, backend, engine,
//   parameter_bytes, peak_bytes, mode, producer exit_code (null = a signal ended the program, or its end was
//   not recorded), exit_signal (that ended it, or null), shell_signal (the signal that an exit code above 128
//   stands for, as shells have it, or null), oom (1 = it was killed while the kernel killed for lack of
//   memory, 0 = it was not, null = unknown), oom_kills (processes that the kernel killed for lack of memory
//   in the program's control group, else on the machine), run_ns (from the start of the program to its end),
//   too_short (1 = it ended before there was enough to advise on: three steady iterations, or 1 s, 10 s where
//   it failed; null = its end is not known)
//   others_cpus, taken_share, waiting_share, steal_share, machine_busy    as in analysis_host (sampled.h)
#pragma once

#include <span>
#include <vector>

#include "analyzer/analysis/breakdown.h"
#include "analyzer/analysis/operators.h"
#include "analyzer/analysis/summary.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::analysis {

struct Tables {
  std::span<const Iteration> iterations;
  std::span<const CategoryTimes> times;
  const Breakdown& breakdown;
  const OperatorTable& operators;
  std::span<const Fact> facts;
};

// Creates and fills the tables; replaces those of an earlier call.
Status writeTables(Trace& trace, const Tables& tables);

}  // namespace pitwall::analysis
