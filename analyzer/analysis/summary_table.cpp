// The facts of analysis_summary, each with its unit and meaning, in the order in which analyzeTrace() adds
// them.
#include <cstring>
#include <utility>

#include "analyzer/analysis/analysis_tables.h"
#include "analyzer/analysis/summary.h"
#include "analyzer/analysis/temp_table.h"
#include "db/check.h"
#include "db/try.h"

namespace pitwall::analysis {

constexpr Column kFacts[] = {
    // Iterations: summary.cpp.
    {"iteration_source", kAny, "text",
     "what gives the iterations: 'marks', 'step ranges', 'repeating sequence' or 'whole trace'"},
    {"repetitions_per_iteration", kAny, "count",
     "of a sequence that repeats too often to separate each repetition; else 1"},
    {"iterations", kAny, "count", "all iterations"},
    {"steady_iterations", kAny, "count", "iterations that the sums include; 0 = nothing repeats"},
    {"outlier_iterations", kAny, "count", "iterations far from the median"},
    {"outlier_period", kAny, "count", "outliers begin every so many iterations; null = not regularly"},
    {"wall_ns", kAny, "ns",
     "length of the report's window: the steady iterations; of devices, the sum of their windows"},
    {"iteration_median_ns", kAny, "ns", "median of the steady iterations"},
    {"iteration_mean_ns", kAny, "ns", "mean of the steady iterations"},
    {"iteration_p90_ns", kAny, "ns", "duration that 90 % of the steady iterations do not exceed"},
    {"iteration_cov", kAny, "ratio",
     "standard deviation over mean of the steady iterations without outliers"},
    {"items_per_iteration", kAny, "count", "samples of a steady iteration; null = unknown"},
    {"items_per_second", kAny, "1/s", "samples; null = unknown"},
    // What was recorded of the program: summary.cpp.
    {"coverage", kAny, "text",
     "what was recorded of the program: 'operators and devices', 'operators', 'devices', 'library calls', "
     "'ranges', 'samples' or 'none'"},
    {"has_samples", kAny, "0 or 1", "1 = CPU use was sampled"},
    {"has_ranges", kAny, "0 or 1", "1 = ranges that the program names were recorded"},
    {"has_library_calls", kAny, "0 or 1", "1 = the calls of one library were recorded"},
    {"has_operators", kAny, "0 or 1", "1 = every operator was recorded"},
    {"has_devices", kAny, "0 or 1", "1 = work of devices was recorded"},
    {"logged_library", kAny, "text", "'oneDNN': whose calls were recorded; empty = none"},
    // Breakdown: summary.cpp.
    {"forward_share", kAny, "0..1",
     "of the wall time: forward pass; null = the trace could not have shown it"},
    {"backward_share", kAny, "0..1",
     "of the wall time: backward pass; null = the trace could not have shown it"},
    {"update_share", kAny, "0..1",
     "of the wall time: update of parameters; null = the trace could not have shown it"},
    {"other_operators_share", kAny, "0..1",
     "of the wall time: other operators; null = the trace could not have shown them"},
    {"communication_share", kAny, "0..1",
     "of the wall time: exposed communication; null = the trace could not have shown it"},
    {"data_wait_share", kAny, "0..1",
     "of the wall time: waits for batches; null = the trace could not have shown them"},
    {"engine_overhead_share", kAny, "0..1",
     "of the wall time: engine overhead; null = the trace could not have shown it"},
    {"idle_share", kAny, "0..1",
     "of the wall time: idle; null = the trace could not have shown it, as where only calls of a library "
     "were recorded"},
    {"unattributed_share", kAny, "0..1", "of the wall time: what the trace cannot explain"},
    {"operators_share", kAny, "0..1",
     "sum of forward_share, backward_share, update_share and other_operators_share; null = the trace could "
     "not have shown operators"},
    // Operators: summary.cpp.
    {"operators_per_iteration", kAny, "count", "executions in a steady iteration: mean"},
    {"operator_total_ns", kAny, "ns",
     "time of operators in the report's window; overlapping ones each in full, exchanges between processes "
     "not"},
    {"operator_concurrency", kAny, "count", "operators that run while any runs: mean; null = none runs"},
    {"operator_tracks", kAny, "count", "threads and streams that ran operators"},
    // The recording: summary.cpp.
    {"recorded_ns", kAny, "ns",
     "from the first event to the last: what the sums of analysis_name and analysis_call are of; of samples "
     "alone, the whole recording"},
    {"recorder_share", kAny, "0..1",
     "the recorder's own CPU time over the time of the whole recording; null = nothing was recorded"},
    {"lost_events", kAny, "count", "events that could not be recorded; 0 with losses = an unknown number"},
    {"losses", kAny, "count", "records of lost events"},
    {"trace_complete", kAny, "0 or 1", "0 = the recording was killed or still runs"},
    // The machine and the program, from the trace's meta table; null = not recorded: summary.cpp.
    {"roof_flop_per_second", kAny, "FLOP/s",
     "peak rate of arithmetic of the machine, all CPUs; null = not measured (`pitwall env --calibrate`)"},
    {"roof_bytes_per_second", kAny, "bytes/s",
     "peak rate of memory of the machine; null = not measured (`pitwall env --calibrate`)"},
    {"usable_cpus", kAny, "count", "CPUs that the program may use: affinity and quota; null = not recorded"},
    {"usable_cores", kAny, "count", "physical cores of these CPUs; null = not recorded"},
    {"logical_cpus", kAny, "count", "CPUs of the machine that are online; null = not recorded"},
    {"physical_cores", kAny, "count", "physical cores of the machine; null = not recorded"},
    {"memory_bytes", kAny, "bytes", "memory of the machine; null = not recorded"},
    {"l2_cache_bytes", kAny, "bytes", "second-level cache; null = not recorded"},
    {"l3_cache_bytes", kAny, "bytes", "third-level cache; null = not recorded"},
    {"blas", kAny, "text", "'mkl', 'openblas', 'blis' or 'atlas'; null = not recorded"},
    {"openmp_runtime", kAny, "text",
     "'libgomp', 'libomp' or 'libiomp5', joined by '+' when several are loaded; 'none'; null = not recorded"},
    {"openmp_threads", kAny, "count", "threads of a parallel region; null = not recorded"},
    {"backend", kAny, "text",
     "backend of Pitwall's runtime: 'onednn', 'reference', 'null'; null = not recorded"},
    {"engine", kAny, "text",
     "engine of Pitwall's runtime: 'ThreadedEnginePerDevice', ...; null = not recorded"},
    {"parameter_bytes", kAny, "bytes", "all trainable parameters; null = not recorded"},
    {"peak_bytes", kAny, "bytes", "most CPU memory in use by the runtime; null = not recorded"},
    {"mode", kAny, "text", "'training' or 'inference'; null = not recorded"},
    {"producer", kAny, "text", "program that wrote the trace: 'pitwall 0.1.0'; null = not recorded"},
    // Making batches, within the report's window: data.cpp.
    {"data_work_ns_per_iteration", kAny, "ns",
     "time in which threads make batches, of an iteration; null = none was recorded"},
    {"data_work_tracks", kAny, "count", "threads that make batches"},
    {"data_work_in_training_share", kAny, "0..1",
     "share of that time on the training thread; null = none was recorded"},
    // Devices, launches and ranks: device_facts.cpp.
    {"framework", kAny, "text", "'pitwall', 'mxnet', 'pytorch', 'onednn' (a verbose log only) or 'unknown'"},
    {"timeline_kind", kAny, "text",
     "'order only', 'sums only' or 'serialised kernels' where times of events mean nothing; else empty"},
    {"devices", kAny, "count", "devices with work"},
    {"ranks", kAny, "count", "ranks that these devices work for; at least 1"},
    {"kernels", kAny, "count", "kernels in the devices' windows"},
    {"collectives", kAny, "count", "collectives in the devices' windows"},
    {"copies", kAny, "count", "copies in the devices' windows"},
    {"carried_in_share", kAny, "0..1",
     "of all pieces of work: launched before the recording, and left out; null = no work"},
    {"gpu_busy_share", kAny, "0..1", "of the devices' windows: any work runs; null = no devices"},
    {"gpu_idle_share", kAny, "0..1", "of the devices' windows: no work runs; null = no devices"},
    {"computation_share", kAny, "0..1", "of the devices' windows: computation; null = no devices"},
    {"copies_share", kAny, "0..1", "of the devices' windows: exposed copies; null = no devices"},
    {"host_wait_share", kAny, "0..1", "of the devices' windows: nothing is launched; null = no devices"},
    {"kernel_wait_share", kAny, "0..1",
     "of the devices' windows: nothing runs although work is launched, for at most 10 us; null = no devices"},
    {"synchronisation_share", kAny, "0..1",
     "of the devices' windows: nothing is launched while a thread waits for a device; null = no devices"},
    {"communication_total_share", kAny, "0..1",
     "of the devices' windows: communication, with what computation hides; null = no devices"},
    {"communication_overlap", kAny, "0..1",
     "of the time of communication: hidden by computation; null = no communication"},
    {"short_kernel_share", kAny, "0..1", "of the time of kernels: kernels below 10 us; null = no kernels"},
    {"kernel_p50_ns", kAny, "ns", "median duration of a kernel: mean over the devices; null = no devices"},
    {"launch_delay_p50_ns", kAny, "ns", "median delay of a launch: mean over the devices; null = unknown"},
    {"launches_matched", kAny, "count", "kernels and collectives whose call is known; null = no devices"},
    {"runnable_cpus", kAny, "CPUs", "CPUs that the program's threads use: mean; null = not sampled"},
    {"cpu_samples", kAny, "count", "threads whose use of CPUs was sampled"},
    // The machine and the program, from the trace's meta table: device_facts.cpp.
    {"sockets", kAny, "count", "processors of the machine; null = not recorded"},
    {"numa_nodes", kAny, "count", "memory nodes of the machine; null = not recorded"},
    {"cgroup_cpus", kAny, "CPUs", "quota of the program's control group; null = no limit"},
    {"onednn_version", kAny, "text", "'2.6.3'; null = not recorded"},
    {"memory_limit_bytes", kAny, "bytes", "limit of the program's control group; null = no limit"},
    {"cpu_model", kAny, "text", "name of the processor; null = not recorded"},
    {"onednn_isa", kAny, "text", "instruction set that oneDNN uses; null = not recorded"},
    {"kvstore", kAny, "text",
     "type of MXNet's kvstore: 'local', 'device', 'nccl', 'dist', ...; null = unknown"},
    {"world_size", kAny, "count", "ranks of the job, at least those in the trace; null = not recorded"},
    {"distributed_backend", kAny, "text", "library for communication: 'nccl', 'gloo'; null = not recorded"},
    // How the program ended: program_end.cpp.
    {"exit_code", kAny, "number", "null = a signal ended the program, or its end was not recorded"},
    {"exit_signal", kAny, "number", "signal that ended the program; null = none"},
    {"shell_signal", kAny, "number",
     "signal that an exit code above 128 stands for, as shells have it; null = none"},
    {"oom", kAny, "0 or 1",
     "1 = it was killed while the kernel killed for lack of memory, 0 = it was not; null = unknown"},
    {"oom_kills", kAny, "count",
     "processes that the kernel killed for lack of memory in the program's control group, else on the "
     "machine; null = not recorded"},
    // As in analysis_host: host.cpp.
    {"others_cpus", kAny, "CPUs", "CPUs that other programs used; null = not sampled"},
    {"taken_share", kAny, "0..1",
     "what others took of the CPU time that the program could have had; null = not sampled"},
    {"waiting_share", kAny, "0..1",
     "of the time that the program's threads ran or were ready to: they waited for a CPU; null = not "
     "sampled"},
    {"steal_share", kAny, "0..1", "of the program's CPUs: taken by the hypervisor; null = not sampled"},
    {"machine_busy", kAny, "0 or 1", "1 = others took so much that times are unreliable; null = not sampled"},
    // The run: program_run.cpp.
    {"run_ns", kAny, "ns", "from the start of the program to its end; null = its end is not known"},
    {"too_short", kAny, "0 or 1",
     "1 = it ended before there was enough to advise on: three steady iterations, or 1 s, 10 s where it "
     "failed; null = its end is not known"},
};
constexpr Column kFactColumns[] = {
    {"key", kText, "", "column of analysis_summary"},
    {"value", kAny, "as the fact", "the value; null = unknown"},
};

constexpr TableDeclaration kSummaryTable{
    "analysis_summary", "One row: the facts of the run that rules read. Shares are of the report's window.",
    kFacts};
constexpr TableDeclaration kFactTable{"analysis_fact", "A fact of analysis_summary.", kFactColumns};

Status writeFacts(Trace& trace, std::span<const Fact> facts) {
  TempTable rows(kFactTable), summary(kSummaryTable);
  std::vector<SqlValue> values;
  for (const auto& fact : facts) {
    const std::size_t at = values.size();
    PITWALL_CHECK(at < std::size(kFacts) && fact.key == kFacts[at].name,
                  "fact %zu: '%s' is not declared there", at, fact.key.c_str());
    rows.row({fact.key, fact.value});
    values.push_back(fact.value);
  }
  summary.row(std::move(values));
  PITWALL_TRY(rows.write(trace));
  return summary.write(trace);
}

}  // namespace pitwall::analysis
