#include "analyzer/analysis/sampled.h"

#include <algorithm>
#include <string_view>

#include "db/try.h"

namespace pitwall::analysis {
namespace {

constexpr std::string_view kHostCounters[] = {
    "host cpu",          "host steal",       "other processes cpu",  "throttled",
    "host cpu pressure", "host io pressure", "host runnable threads"};

bool isOfHost(const std::string& name) {
  return std::find(std::begin(kHostCounters), std::end(kHostCounters), name) != std::end(kHostCounters);
}

class SampleGatherer {
 public:
  explicit SampleGatherer(Trace& trace) : trace_(trace) {}

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
    return std::move(result_);
  }

 private:
  static bool isWanted(const TrackInfo& info) {
    const auto& name = info.name;
    if (info.thread)
      return name == "cpu" || name == "waiting for a cpu" || name == "voluntary switches" || name == "state";
    return isOfHost(name) || name == "cpu" || name == "read" || name == "written" || name == "major faults" ||
           name == "minor faults" || name == "cpu in the kernel" || name == "resident memory";
  }

  void addOfThread(const TrackInfo& info, std::vector<CounterSample> samples) {
    auto found = std::find_if(result_.threads.begin(), result_.threads.end(),
                              [&](const SampledThread& thread) { return thread.id == info.thread; });
    if (found == result_.threads.end())
      found = result_.threads.insert(result_.threads.end(), {info.thread, info.process, {}, {}, {}, {}});
    if (info.name == "cpu") found->cpu = held(samples);
    if (info.name == "waiting for a cpu") found->waiting = held(samples);
    if (info.name == "voluntary switches") found->voluntary = held(samples);
    if (info.name == "state") found->states = std::move(samples);
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

Result<Sampled> gatherSampled(Trace& trace) {
  SampleGatherer gatherer(trace);
  const auto tracks = trace.tracks();
  for (std::uint32_t i = 0; i < tracks.size(); ++i) {
    PITWALL_TRY(gatherer.add(TrackId{i + 1}, tracks[i]));
  }
  return gatherer.take();
}

Status writeSampled(Trace& trace) {
  auto sampled = PITWALL_TRY(gatherSampled(trace));
  for (const auto write : {writeHost, writeProcesses, writeWaits}) {
    PITWALL_TRY(write(trace, sampled));
  }
  return {};
}

}  // namespace pitwall::analysis
