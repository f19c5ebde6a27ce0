#include "analyzer/analysis/sampled.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "analyzer/analysis/stack_sums.h"
#include "db/stacks.h"
#include "db/try.h"

namespace pitwall::analysis {
namespace {

constexpr std::string_view kHostCounters[] = {
    "host cpu",          "host steal",       "other processes cpu",  "throttled",
    "host cpu pressure", "host io pressure", "host runnable threads"};

// By value of the counter "state"; docs/recording.md.
constexpr std::string_view kStateTexts[kThreadStates] = {"",
                                                         "waiting: lock",
                                                         "waiting: lock or event, with a timeout",
                                                         "waiting: lock or event",
                                                         "sleeping",
                                                         "waiting: files or sockets",
                                                         "waiting: input of a pipe, socket or terminal",
                                                         "waiting: output to a pipe or socket",
                                                         "waiting: storage read",
                                                         "waiting: storage write",
                                                         "waiting: storage sync",
                                                         "waiting: kernel",
                                                         "waiting: child process",
                                                         "waiting",
                                                         "stopped"};
constexpr double kTimedWait = 2;

struct Span {
  TimeNs from_ns = 0, to_ns = 0;
  bool empty() const { return to_ns <= from_ns; }
};

// From the first steady iteration to the last; empty where there are too few.
Span steadySpan(std::span<const Iteration> iterations) {
  constexpr int kFewest = 3;
  Span span;
  int count = 0;
  for (const Iteration& iteration : iterations) {
    if (iteration.role != IterationRole::steady) continue;
    if (count++ == 0) span.from_ns = iteration.start_ns;
    span.to_ns = std::max(span.to_ns, iteration.end_ns);
  }
  return count >= kFewest ? span : Span{};
}

// Without iterations: what is after the imports with which Python programs begin; empty where there are none.
Result<Span> spanAfterImports(Trace& trace) {
  const TimeNs from_ns = PITWALL_TRY(importsEnd(trace));
  constexpr TimeNs kNever = std::numeric_limits<TimeNs>::min();
  return from_ns == kNever ? Span{} : Span{from_ns, std::numeric_limits<TimeNs>::max()};
}

// The samples that are valid within the span, which are all where it is empty.
std::vector<CounterSample> within(const Span& span, const std::vector<CounterSample>& samples) {
  if (span.empty()) return samples;
  std::vector<CounterSample> result;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const TimeNs until = i + 1 < samples.size() ? samples[i + 1].time_ns : samples[i].time_ns;
    if (until <= span.from_ns || samples[i].time_ns >= span.to_ns) continue;
    result.push_back({std::max(samples[i].time_ns, span.from_ns), samples[i].value});
    if (until >= span.to_ns) result.push_back({span.to_ns, samples[i].value});
  }
  return result;
}

bool isOfHost(const std::string& name) {
  return std::find(std::begin(kHostCounters), std::end(kHostCounters), name) != std::end(kHostCounters);
}

class SampleGatherer {
 public:
  SampleGatherer(Trace& trace, Span window) : trace_(trace), window_(window) {}

  Status add(TrackId id, const TrackInfo& info) {
    if (info.kind != TrackKind::counter || info.device || !isWanted(info)) return {};
    auto samples = PITWALL_TRY(trace_.counters(id));
    if (samples.empty()) return {};
    if (info.thread) {
      addOfThread(info, std::move(samples));
    } else if (isOfHost(info.name)) {
      result_.host[info.name] = held(samples);
    } else {
      addOfProcess(info, std::move(samples));
    }
    return {};
  }

  Sampled take() {
    bool any = false;
    for (const auto& [id, process] : result_.processes) {
      if (process.cpu.samples == 0) continue;
      result_.from_ns = any ? std::min(result_.from_ns, process.cpu.from_ns) : process.cpu.from_ns;
      result_.to_ns = std::max(result_.to_ns, process.cpu.to_ns);
      any = true;
    }
    for (SampledThread& thread : result_.threads) {
      if (thread.states.empty()) thread.window.states.clear();  // stacks of another tool say nothing of waits
    }
    const bool whole = window_.empty();
    result_.window_from_ns = whole ? result_.from_ns : std::max(window_.from_ns, result_.from_ns);
    result_.window_to_ns = whole ? result_.to_ns : std::min(window_.to_ns, result_.to_ns);
    return std::move(result_);
  }

 private:
  static bool isWanted(const TrackInfo& info) {
    const auto& name = info.name;
    if (info.thread && info.unit == kStackUnit) return name != kNativeFunctionTrack;
    if (info.thread)
      return name == "cpu" || name == "waiting for a cpu" || name == "voluntary switches" || name == "state";
    return isOfHost(name) || name == "cpu" || name == "read" || name == "written" || name == "major faults" ||
           name == "minor faults" || name == "cpu in the kernel" || name == "resident memory";
  }

  void addOfThread(const TrackInfo& info, std::vector<CounterSample> samples) {
    auto found = std::find_if(result_.threads.begin(), result_.threads.end(),
                              [&](const SampledThread& thread) { return thread.id == info.thread; });
    if (found == result_.threads.end())
      found = result_.threads.insert(result_.threads.end(), {info.thread, info.process, {}, {}, {}, {}, {}});
    const std::vector<CounterSample> now = within(window_, samples);
    if (info.unit == kStackUnit) return useStates(statesOf(now), *found);
    if (info.name == "cpu") found->cpu = held(samples), found->window.cpu = held(now);
    if (info.name == "waiting for a cpu") found->waiting = held(samples), found->window.waiting = held(now);
    if (info.name == "voluntary switches")
      found->voluntary = held(samples), found->window.voluntary = held(now);
    if (info.name != "state") return;
    found->states = std::move(samples);
    useStates(now, *found);
  }

  // Stacks are sampled more often than states, and where a process has many threads less often.
  static void useStates(std::vector<CounterSample> states, SampledThread& thread) {
    if (states.size() > thread.window.states.size()) thread.window.states = std::move(states);
  }

  // What the thread waits for, from its stacks.
  std::vector<CounterSample> statesOf(std::vector<CounterSample> samples) {
    for (CounterSample& sample : samples) {
      const StackId stack = stackOf(sample, trace_.stacks().size());
      sample.value = stack ? stateOf(trace_.frames()[trace_.stacks()[stack.value - 1].frame.value - 1]) : 0;
    }
    return samples;
  }

  static double stateOf(const FrameInfo& innermost) {
    if (innermost.language != kStateLanguage) return 0;
    const auto* const found = std::find(std::begin(kStateTexts), std::end(kStateTexts), innermost.function);
    return found == std::end(kStateTexts) ? kTimedWait  // Python's interpreter lock
                                          : static_cast<double>(found - std::begin(kStateTexts));
  }

  void addOfProcess(const TrackInfo& info, std::vector<CounterSample> samples) {
    SampledProcess& process = result_.processes[info.process];
    if (info.name == "cpu") process.cpu = held(samples);
    if (info.name == "read") process.read = held(samples);
    if (info.name == "written") process.written = held(samples);
    if (info.name == "major faults") process.major_faults = held(samples);
    if (info.name == "minor faults") process.minor_faults = std::move(samples);
    if (info.name == "cpu in the kernel") process.kernel_cpu = held(samples);
    if (info.name == "resident memory") process.resident = std::move(samples);
  }

  Trace& trace_;
  const Span window_;
  Sampled result_;
};

}  // namespace

Held held(const std::vector<CounterSample>& samples) {
  Held result;
  result.samples = samples.size();
  if (samples.empty()) return result;
  result.from_ns = samples.front().time_ns;
  result.to_ns = samples.back().time_ns;
  for (std::size_t i = 0; i + 1 < samples.size(); ++i)
    result.total_ns += samples[i].value * static_cast<double>(samples[i + 1].time_ns - samples[i].time_ns);
  return result;
}

Result<Sampled> gatherSampled(Trace& trace, std::span<const Iteration> iterations) {
  Span window = steadySpan(iterations);
  if (window.empty()) window = PITWALL_TRY(spanAfterImports(trace));
  SampleGatherer gatherer(trace, window);
  const auto tracks = trace.tracks();
  for (std::uint32_t i = 0; i < tracks.size(); ++i) {
    PITWALL_TRY(gatherer.add(TrackId{i + 1}, tracks[i]));
  }
  return gatherer.take();
}

Status writeSampled(Trace& trace, std::span<const Iteration> iterations) {
  auto sampled = PITWALL_TRY(gatherSampled(trace, iterations));
  for (const auto write : {writeHost, writeProcesses, writeWaits}) {
    PITWALL_TRY(write(trace, sampled));
  }
  return {};
}

}  // namespace pitwall::analysis
