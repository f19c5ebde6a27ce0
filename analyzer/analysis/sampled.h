// The samples of `pitwall record` of the machine, of processes and of their threads, gathered for the tables
// that rules read.
//
// analysis_host        one row; null = not sampled. CPUs are means over the recording
//   host_cpus, others_cpus (used by other programs than the recorded one and the recorder), steal_cpus (taken
//   by the hypervisor), throttled_cpus (quota), runnable_mean (threads of the machine),
//   cpu_pressure, io_pressure (share of the time in which some thread of the machine waited)
//   own_cpus, waiting_cpus   used by the program's threads, and how many of them waited for a CPU on average
//   usable_cpus          of the program: affinity and quota
//   taken_cpus           what others took of the CPUs that the program asked for: at most what they used, and
//   at
//                        most what the program could have used beyond what it got
//   taken_share          taken_cpus of own_cpus + taken_cpus; waiting_share: of own threads' time that they
//   ran or
//                        were ready to; steal_share: of usable_cpus
//   busy                 1 = other programs or the hypervisor took so much that times are unreliable:
//   taken_share
//                        >= 0.05 or steal_share >= 0.05; 0 = they did not
// analysis_process     one row per sampled process
//   process, pid, name, busiest (1 = used most CPU time of all), is_python
//   begin_ns, span_ns, cpus (mean), span_share (of the recording)
//   working              threads that use 0.05 CPUs or more; of these, one_share and together_share: of the
//   time,
//                        exactly one, or several, run or are ready to; null = states were not sampled
//   read_bytes_per_second, written_bytes_per_second (storage), major_faults (1/s)
//   kernel_cpus (mean, within the kernel), minor_faults (1/s), repeated_faults (1/s: beyond those that its
//   growth
//                        to its peak explains)
//   third_bytes, last_bytes, peak_bytes   resident memory: the most in the third tenth, in the last, ever
//   growth_bytes_per_second, rising       from the third tenth on; how many of the seven tenths after it rise
//   by 2 %
//                        of the growth or more; largest_step (share of the growth that is in one tenth),
//                        late_growth (share in the last two tenths)
// analysis_wait        one row per sampled thread
//   process, thread, thread_id, is_main (the process's first thread), cpu, waiting_for_cpu,
//   voluntary_switches (1/s), rank (1 = uses most CPU of its process), samples, span_share (of the recording)
//   running, mutex, timed_wait, wait, sleep, poll, input, output, storage_read, storage_write, sync,
//   uninterruptible, child, asleep, stopped    shares of its time, as docs/recording.md has them; they sum
//   to 1. running is what the clocks of CPU time and of waiting for a CPU say, the rest as states were seen
//   late_storage         storage_read + uninterruptible in the second half of its time
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "analyzer/analysis/summary.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::analysis {

inline constexpr std::size_t kThreadStates = 15;  // record/sample/thread_state.h; docs/recording.md

// Samples of a rate: each holds until the next.
struct Held {
  double total_ns = 0;  // value times time
  TimeNs from_ns = 0, to_ns = 0;
  std::size_t samples = 0;
  double span() const { return static_cast<double>(to_ns - from_ns); }
  double mean() const { return span() > 0 ? total_ns / span() : 0; }
};
Held held(const std::vector<CounterSample>& samples);

struct SampledThread {
  ThreadId id;
  ProcessId process;
  Held cpu, waiting, voluntary;
  std::vector<CounterSample> states;
};

struct SampledProcess {
  Held cpu, kernel_cpu, read, written, major_faults;
  std::vector<CounterSample> resident, minor_faults;
};

struct Sampled {
  std::map<ProcessId, SampledProcess> processes;
  std::vector<SampledThread> threads;
  std::map<std::string, Held> host;  // by name of the counter
  TimeNs from_ns = 0, to_ns = 0;     // of the processes' samples
};

// Errors: as Trace::counters.
Result<Sampled> gatherSampled(Trace& trace);

// Each writes the table above of its name.
Status writeHost(Trace& trace, const Sampled& sampled);
Status writeProcesses(Trace& trace, const Sampled& sampled);
Status writeWaits(Trace& trace, const Sampled& sampled);

// All of it.
Status writeSampled(Trace& trace);

// Appends the facts of analysis_summary about the machine; after writeSampled.
void addHostFacts(Trace& trace, std::vector<Fact>& facts);

}  // namespace pitwall::analysis
