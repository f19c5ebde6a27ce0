// The samples of `pitwall record` of the machine, of processes and of their threads, gathered for the tables
// that rules read.
#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "analyzer/analysis/iterations.h"
#include "analyzer/analysis/summary.h"
#include "db/reader.h"
#include "db/result.h"

namespace pitwall::analysis {

inline constexpr std::size_t kThreadStates = 15;  // analyzer/record/sample/thread_state.h; docs/recording.md

// Samples of a rate: each holds until the next.
struct Held {
  double total_ns = 0;  // value times time
  TimeNs from_ns = 0, to_ns = 0;
  std::size_t samples = 0;
  double span() const { return static_cast<double>(to_ns - from_ns); }
  double mean() const { return span() > 0 ? total_ns / span() : 0; }
};
Held held(const std::vector<CounterSample>& samples);

// A thread's samples within the steady iterations, or all of them where there are none.
struct WithinWindow {
  Held cpu, waiting, voluntary;
  std::vector<CounterSample> states;  // those of its stacks where these are more
};

struct SampledThread {
  ThreadId id;
  ProcessId process;
  Held cpu, waiting, voluntary;
  std::vector<CounterSample> states;
  WithinWindow window;
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
  TimeNs window_from_ns = 0, window_to_ns = 0;
};

// Errors: as Trace::counters.
Result<Sampled> gatherSampled(Trace& trace, std::span<const Iteration> iterations);

Status writeHost(Trace& trace, const Sampled& sampled);       // analysis_host
Status writeProcesses(Trace& trace, const Sampled& sampled);  // analysis_process
Status writeWaits(Trace& trace, const Sampled& sampled);      // analysis_wait

// All of it.
Status writeSampled(Trace& trace, std::span<const Iteration> iterations);

// Appends the facts of analysis_summary about the machine; after writeSampled.
void addHostFacts(Trace& trace, std::vector<Fact>& facts);

}  // namespace pitwall::analysis
