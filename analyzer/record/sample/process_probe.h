// Samples one process with its threads, and determines its program, environment, libraries and limits.
#pragma once

#include <sys/types.h>

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/record/sample/proc_files.h"
#include "analyzer/record/sample/sample_log.h"
#include "analyzer/record/sample/stack_probe.h"
#include "analyzer/record/sample/thread_probe.h"
#include "analyzer/record/sample/trace_clock.h"
#include "db/proc_files.h"

namespace pitwall::record {

// Facts of a process for rules. Read when it is first seen and again from time to time: libraries are loaded
// late, and a program may change its affinity.
struct ProcessFacts {
  std::vector<std::pair<std::string, std::string>> environment;  // at the program's start
  std::string openmp_runtimes;                                   // "" = none
  std::string blas;                                              // "" = none
  std::vector<int> affinity;                                     // CPUs it may run on
};

// The NAME=VALUE pairs of /proc/PID/environ, and the rank in a distributed job that they give (0 when none).
std::vector<std::pair<std::string, std::string>> environmentPairs(std::string_view environ_file);
int rankOf(const std::vector<std::pair<std::string, std::string>>& environment);

// Limits that all probes of one recording share.
struct ProbeBudget {
  int threads_left = 4096;          // that may still get their own tracks
  std::int64_t threads_denied = 0;  // that did not get tracks
};

class ProcessProbe {
 public:
  // `since_ns`: start of the intervals of its first samples.
  ProcessProbe(pid_t pid, TimeNs since_ns);
  ~ProcessProbe();
  ProcessProbe(const ProcessProbe&) = delete;
  ProcessProbe& operator=(const ProcessProbe&) = delete;

  // Sets its command and environment, in case it ends before they can be read.
  void presume(std::vector<std::string> command, std::span<const std::string> environment);
  // Counts from now on: it has been running before.
  void startNow();
  // False once the process has ended; then its tracks are ended.
  // `new_threads`: whether any program of the machine may have started a thread since the last sample.
  bool sample(const TraceClock& clock, SampleLog& log, ProbeBudget& budget, bool new_threads);
  // Samples the stacks of its threads; between samples of all else.
  void sampleStacks(const TraceClock& clock, SampleLog& log, StackRecorder& recorder);
  // Reads libraries and limits again. Takes up to milliseconds for programs with many libraries.
  void refreshFacts();

  pid_t pid() const { return pid_; }
  TimeNs cpuNs() const { return cpu_ns_; }
  TimeNs childrenCpuNs() const { return children_cpu_ns_; }  // of those that it has waited for
  int threadCount() const { return static_cast<int>(threads_.size()); }
  const ProcessFacts& facts() const { return facts_; }
  ProcessRef process() const { return process_; }
  bool described() const { return described_; }  // whether process() is valid

 private:
  struct Series {
    SeriesRef cpu, kernel_cpu, resident, major, minor, threads, read, written, read_calls,
        written_calls;  // rates but two
  };
  struct Io {
    std::int64_t read = 0, written = 0, read_calls = 0, written_calls = 0;
  };
  void describe(const StatLine& stat, SampleLog& log);
  void makeTracks(SampleLog& log);
  void sampleProcess(const StatLine& stat, TimeNs now_ns, SampleLog& log);
  void sampleIo(TimeNs now_ns, SampleLog& log);
  void findThreads(ProbeBudget& budget);
  void sampleThreads(const TraceClock& clock, SampleLog& log, ProbeBudget& budget);
  void endThreads(std::vector<ThreadProbe>& ended, TimeNs most_ns, TimeNs now_ns, SampleLog& log);
  void sampleMemoryNodes(TimeNs now_ns, SampleLog& log);
  bool readIo(Io& io);
  void end(TimeNs now_ns, SampleLog& log);

  pid_t pid_;
  int folder_ = -1;  // of /proc/PID: refers to this process even if its id is reused
  int tasks_ = -1;   // of /proc/PID/task
  TimeNs since_ns_;
  bool described_ = false;
  bool ran_before_ = false;  // its threads, too, until they are found
  std::uint64_t image_ = 0;  // changes with exec
  int samples_without_command_ = 0;
  ProcessRef process_;
  Series series_;
  bool io_readable_ = false;
  TimeNs cpu_ns_ = 0, kernel_cpu_ns_ = 0, children_cpu_ns_ = 0;
  TimeNs threads_cpu_ns_ = 0;  // as cpu_ns_, read after its threads
  std::int64_t minor_ = 0, major_ = 0;
  Io io_;
  host::RepeatedFile stat_file_, io_file_;
  std::vector<SeriesRef> nodes_;
  TimeNs nodes_read_ns_ = 0;
  ProcessFacts facts_;
  std::vector<std::string> command_;  // last known, or presumed
  std::unordered_map<pid_t, ThreadProbe> threads_;
  LockAddresses locks_;                 // of this program image
  std::unique_ptr<StackProbe> stacks_;  // of this program image; null before the first sample of stacks
};

}  // namespace pitwall::record
