// Keys of a trace's meta table: facts about host, process and libraries, as text. Producers write those they
// know; a reader treats an absent key as unknown.
#pragma once

namespace pitwall::meta {

inline constexpr char kTraceStartUnixNs[] = "trace.start_unix_ns";  // wall clock at time 0, ns since 1970
inline constexpr char kTraceEndNs[] = "trace.end_ns";               // time of the last flush, ns since start
inline constexpr char kRecorderRings[] = "recorder.rings";          // "file" (a kill loses nothing),
                                                                    // or "memory" and why
inline constexpr char kRecorderCompleted[] =
    "recorder.completed";                              // events recovered from a killed recording's ring file
inline constexpr char kProducer[] = "trace.producer";  // "pitwall 0.1.0", "nsys 2026.2"
inline constexpr char kComplete[] = "trace.complete";  // "1" once finished; written by the store alone
inline constexpr char kStackHz[] = "recorder.stack_hz";  // achieved samples of stacks per second
inline constexpr char kStacksTorn[] =
    "recorder.stacks_dropped";  // "3 of 1200": changed while they were read, or deeper than 1024 functions
// + the problem: "cudnn engine 67 tensor core: of engine 67 tensor core 46.2 us, workspace 0.0 MiB; ..."
inline constexpr char kAutotune[] = "autotune.";
inline constexpr char kHostName[] = "host.name";
inline constexpr char kHostOs[] = "host.os";  // "Linux 6.1.0"
inline constexpr char kCpuModel[] = "host.cpu_model";
inline constexpr char kLogicalCpus[] = "host.logical_cpus";  // online hardware threads
inline constexpr char kPhysicalCores[] = "host.physical_cores";
inline constexpr char kSockets[] = "host.sockets";
inline constexpr char kNumaNodes[] = "host.numa_nodes";
inline constexpr char kMemoryBytes[] = "host.memory_bytes";
inline constexpr char kUsableCpus[] = "process.usable_cpus";  // min of affinity mask and cgroup quota, >= 1
inline constexpr char kUsableCores[] =
    "process.usable_cores";                                   // physical cores that the affinity mask touches
inline constexpr char kCgroupCpus[] = "process.cgroup_cpus";  // quota / period as decimal; absent = no limit
inline constexpr char kOpenMpRuntime[] =
    "process.openmp_runtime";  // "libgomp", "libomp", "libiomp5"; joined by
                               // '+' when several are loaded; "none"
inline constexpr char kOpenMpThreads[] =
    "process.openmp_threads";                               // threads a parallel region of a worker gets
inline constexpr char kOneDnnVersion[] = "library.onednn";  // "2.6.3"
inline constexpr char kBackend[] = "runtime.backend";       // "onednn", "reference", "null"
inline constexpr char kEngine[] = "runtime.engine";         // "ThreadedEnginePerDevice", ...
inline constexpr char kModelBytes[] = "runtime.parameter_bytes";  // all trainable parameters
inline constexpr char kPeakBytes[] = "runtime.peak_bytes";        // peak live CPU storage of the runtime, of
                                                                  // all cpu devices together
inline constexpr char kRecorderSelfNs[] = "recorder.self_ns";     // CPU time of the drain thread so far
inline constexpr char kNumaCpus[] = "host.numa_cpus";             // CPUs of each node: "0-15;16-31"
inline constexpr char kCgroupMemory[] = "process.cgroup_memory_bytes";  // limit; absent = none
inline constexpr char kAffinity[] = "process.affinity";                 // CPUs it may run on: "0-3,8"
inline constexpr char kExitCode[] =
    "process.exit_code";  // of the recorded program; absent = a signal ended it, or it was still running
inline constexpr char kExitSignal[] = "process.exit_signal";  // that ended it; absent = none
// Processes that the kernel killed for lack of memory during the recording: in the program's control group,
// on the whole machine.
inline constexpr char kOomKills[] = "process.oom_kills";
inline constexpr char kHostOomKills[] = "host.oom_kills";
inline constexpr char kProcessCpuNs[] = "process.cpu_ns";  // CPU time of the program and its children
inline constexpr char kSampleHz[] = "recorder.sample_hz";  // samples taken per second; 0 = none
// The framework whose own profiler recorded it, which keeps its events in the program's memory: "ONNX Runtime".
inline constexpr char kFrameworkProfile[] = "recorder.framework_profile";
// "1": GPUs were made to run kernels one after the other, to count in hardware: their times mean nothing.
inline constexpr char kSerialisedKernels[] = "recorder.serialised_kernels";
inline constexpr char kRecorderNotes[] =
    "recorder.notes";  // what could not be recorded; one sentence per line
inline constexpr char kEnvironmentPrefix[] = "environment.";  // + NAME: a variable of the program, redacted
inline constexpr char kExportRange[] = "export.range_ns";     // "BEGIN..END" in the original trace
// The changes that `pitwall simulate` made: the trace's times are predicted, not recorded.
inline constexpr char kSimulatedChanges[] = "simulated.changes";
inline constexpr char kExportRank[] = "export.rank";  // the only exported rank
// + "gpu.0." + NAME: a property of a device as its tracer reports it: "num_sms", "warp_size", "compute_major"
inline constexpr char kDevicePrefix[] = "device.";
inline constexpr char kCoreKinds[] = "host.core_kinds";  // 2 where there are fast and slow cores
// Peak rates of the machine, as measured by `pitwall env --calibrate` (db/machine.h).
inline constexpr char kRooflinePrefix[] = "roof.";
inline constexpr char kRooflineCpus[] = "roof.cpus";                        // that took part
inline constexpr char kRooflineFlop[] = "roof.flop_per_second";             // float32 multiply-adds, all CPUs
inline constexpr char kRooflineFlopOne[] = "roof.flop_per_second.one_cpu";  // the same, one CPU
inline constexpr char kRooflineCopy[] = "roof.copy_bytes_per_second";       // memory, read and written
inline constexpr char kRooflineTriad[] = "roof.triad_bytes_per_second";  // memory, two read and one written
inline constexpr char kRooflineForkJoin[] =
    "roof.openmp_fork_join_ns.";                                // + N: an empty OpenMP region of N threads
inline constexpr char kBlas[] = "library.blas";                 // "mkl", "openblas", "blis", "atlas"
inline constexpr char kBlasThreads[] = "library.blas_threads";  // that it runs
inline constexpr char kLinkRate[] = "device.link_bytes_per_second";    // between devices, one direction
inline constexpr char kKvStore[] = "mxnet.kvstore";                    // "local", "device", "nccl", ...
inline constexpr char kThreadTrialPrefix[] = "probe.openmp_threads.";  // + N: ns per iteration with N threads
inline constexpr char kMode[] = "runtime.mode";                        // "training", "inference"

}  // namespace pitwall::meta
