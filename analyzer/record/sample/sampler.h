// Samples a program with all its children from outside, through /proc and NVML.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "analyzer/record/sample/gpu_sampler.h"
#include "analyzer/record/sample/host_probe.h"
#include "analyzer/record/sample/own_cpu.h"
#include "analyzer/record/sample/process_probe.h"
#include "analyzer/record/sample/sample_log.h"
#include "analyzer/record/sample/stack_probe.h"
#include "analyzer/record/sample/trace_clock.h"
#include "db/proc_files.h"
#include "db/usable_cpus.h"

namespace pitwall::record {

struct SamplerOptions {
  // Of the program, in case it ends before they can be read.
  std::vector<std::string> command, environment;
  double hz = 20;                 // at most; less when sampling would take too much CPU time
  std::optional<TimeNs> last_ns;  // flight recorder: keep only this long
  double most_cpu_share = 0.02;   // of one CPU, limit of sampling
  bool is_running = false;        // the program has been started before: its descendants belong to it
  StackMode stacks = StackMode::off;
  double stack_hz = 100;  // at most
  // Of one CPU, limit of sampling stacks.
  double most_stack_share = stackShare(host::affinityCpus().size());

  // Half a percent of the CPUs, at most 3 % of one. A program that computes on all of them waits for the thread whose CPU
  // the recorder takes: there it pays the whole share.
  static double stackShare(std::size_t cpus) {
    return std::min(0.03, 0.005 * static_cast<double>(std::max<std::size_t>(1, cpus)));
  }
};

class Sampler {
 public:
  // Samples `root` and its descendants, also orphans, since they become children of this process (a
  // subreaper). Construct it before the program starts: running processes do not belong to the program. The
  // sink outlives it. All calls from one thread.
  Sampler(pid_t root, TraceSink& sink, const TraceClock& clock, SamplerOptions options);

  // Takes one sample of everything. Also finds new processes.
  void sample();
  // Takes one sample of the stacks of all threads.
  void sampleStacks();
  // The time of the next sample, and of the next one of stacks. A sample waits for stacks that are due soon: to be woken
  // once costs the program less than twice.
  TimeNs nextNs() const {
    return next_stacks_ns_ > next_ns_ && next_stacks_ns_ <= latest_ns_ ? next_stacks_ns_ : next_ns_;
  }
  TimeNs nextStacksNs() const { return next_stacks_ns_; }
  // Writes samples and facts to the sink; call about once per second.
  void write();
  // The same for the last time.
  void finish();

  bool anyAlive() const { return !probes_.empty(); }
  std::vector<pid_t> alive() const;
  bool isAlive(pid_t pid) const { return probes_.contains(pid); }
  int processesSeen() const { return processes_seen_; }
  int mostThreads() const { return most_threads_; }
  double achievedHz() const;
  std::int64_t samplesWritten() const { return log_.samplesWritten(); }  // to the sink
  std::vector<std::string> notes() const;  // what was not sampled and why; sentences

 private:
  bool hasNewThreads();
  void findProcesses();
  void attach();
  void writeStackFacts();
  void stackNotes(std::vector<std::string>& notes) const;
  bool sampleProcess(ProcessProbe& probe);
  void sampleHost(TimeNs now_ns);
  void writeFacts();
  void writeGpus();
  void refreshFacts(TimeNs now_ns);

  pid_t root_;
  const TraceClock& clock_;
  SamplerOptions options_;
  SampleLog log_;
  ProbeBudget budget_;
  std::map<pid_t, std::unique_ptr<ProcessProbe>> probes_;
  std::unordered_set<pid_t> others_;  // of other programs, so that they are examined only once
  host::RepeatedFile load_;           // /proc/loadavg
  std::string newest_;                // number of the newest process or thread when the others were listed
  bool new_threads_ = true;           // some program has started a thread since the last sample
  std::unique_ptr<GpuSampler> gpus_;
  std::vector<SeriesRef> gpu_series_;
  ProcessRef first_process_;  // has the tracks of the machine; valid once host_ has tracks

  TimeNs next_ns_ = 0, latest_ns_ = 0;
  TimeNs first_ns_ = 0, last_ns_ = 0;
  double cost_ns_ = 0;                         // CPU time of a sample, smoothed
  std::int64_t samples_ = 0, made_rarer_ = 0;  // the latter: followed by a longer interval due to their cost
  int processes_seen_ = 0, most_threads_ = 0;

  TimeNs facts_due_ns_ = 100'000'000, facts_every_ns_ = 100'000'000;
  // Facts of the process with the most CPU time so far: kept, since it may end before the recording does.
  TimeNs busiest_cpu_ns_ = -1;
  ProcessFacts busiest_facts_;
  pid_t busiest_pid_ = 0;

  std::unique_ptr<StackRecorder> stacks_;  // null = stacks are not sampled
  TimeNs next_stacks_ns_ = std::numeric_limits<TimeNs>::max();
  TimeNs first_stacks_ns_ = 0, last_stacks_ns_ = 0;
  std::int64_t stack_rounds_ = 0;
  double stack_cost_ns_ = 0;  // CPU time of a round, smoothed

  std::unique_ptr<HostProbe> host_;
  OwnCpu own_cpu_;
  TimeNs waited_for_ns_ = 0,
         recorder_ns_ = 0;  // CPU time of our children, and our own, when it began or last
};

}  // namespace pitwall::record
