#include "analyzer/analysis/sampled_use.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <span>

#include "analyzer/units_text.h"
#include "db/meta.h"
#include "db/try.h"

namespace pitwall::analysis {
namespace {

constexpr std::size_t kProcesses = 3, kThreads = 4;  // that are described
// Of the busiest one's CPU time: processes that use less only help, such as the tools of a start script.
constexpr double kHelper = 0.2;

struct Use {
  double cpu_ns = 0, span_ns = 0, most = 0;
  std::string name;
  double cpus() const { return span_ns > 0 ? cpu_ns / span_ns : 0; }
};

// Each sample is valid until the next.
Use useOf(const std::vector<CounterSample>& samples) {
  Use use;
  for (std::size_t i = 0; i + 1 < samples.size(); ++i) {
    const auto length = static_cast<double>(samples[i + 1].time_ns - samples[i].time_ns);
    use.cpu_ns += samples[i].value * length;
    use.span_ns += length;
    use.most = std::max(use.most, samples[i].value);
  }
  return use;
}

struct Process {
  Use use;
  double resident_bytes = 0;  // at most
  std::vector<Use> threads;
  std::string program;
};

void sortByTime(std::vector<Use>& uses) {
  std::stable_sort(uses.begin(), uses.end(), [](const Use& a, const Use& b) { return a.cpu_ns > b.cpu_ns; });
}

std::string describe(const Process& process) {
  const Use& use = process.use;
  std::string text =
      fmt::format("{} used {:.2f} CPUs on average over {} ({} of CPU time, {:.2f} CPUs at most)", use.name,
                  use.cpus(), showDuration(use.span_ns), showDuration(use.cpu_ns), use.most);
  if (process.resident_bytes > 0) text += fmt::format(" and {} of memory", showBytes(process.resident_bytes));
  const std::size_t shown = std::min(process.threads.size(), kThreads);
  for (std::size_t i = 0; i < shown; ++i) {
    text += fmt::format("{}{} {:.2f}", i == 0 ? "; by thread: " : ", ", process.threads[i].name,
                        process.threads[i].cpus());
  }
  if (process.threads.size() > shown) text += fmt::format(" and {} more", process.threads.size() - shown);
  return text + ".";
}

// "5 helper processes used 20.0 ms of CPU time together."
std::string describeRest(std::span<const Process> rest, double most_ns) {
  double cpu_ns = 0;
  for (const Process& process : rest) cpu_ns += process.use.cpu_ns;
  return fmt::format("{} {} process{} used {} of CPU time together.", rest.size(),
                     cpu_ns < most_ns ? "helper" : "other", rest.size() == 1 ? "" : "es",
                     showDuration(cpu_ns));
}

// By CPU time, the most first.
Result<std::vector<Process>> sampledProcesses(Trace& trace) {
  std::map<std::uint32_t, Process> processes;
  const auto tracks = trace.tracks();
  for (std::uint32_t i = 0; i < tracks.size(); ++i) {
    const TrackInfo& track = tracks[i];
    const bool cpu = track.name == "cpu", resident = track.name == "resident memory" && !track.thread;
    if (track.kind != TrackKind::counter || !track.process || !(cpu || resident)) continue;
    const auto samples = PITWALL_TRY(trace.counters(TrackId{i + 1}));
    Process& process = processes[track.process.value];
    if (resident) {
      for (const CounterSample& sample : samples)
        process.resident_bytes = std::max(process.resident_bytes, sample.value);
    } else if (!track.thread) {
      process.use = useOf(samples);
      const ProcessInfo& info = trace.processes()[track.process.value - 1];
      process.use.name = fmt::format("{} (process {})", info.name, info.pid);
      process.program = info.name;
    } else {
      process.threads.push_back(useOf(samples));
      process.threads.back().name = trace.threads()[track.thread.value - 1].name;
    }
  }
  std::vector<Process> busiest;
  for (auto& [id, process] : processes) {
    if (process.use.cpu_ns > 0) busiest.push_back(std::move(process));
  }
  std::stable_sort(busiest.begin(), busiest.end(),
                   [](const Process& a, const Process& b) { return a.use.cpu_ns > b.use.cpu_ns; });
  return busiest;
}

}  // namespace

Result<SampledUses> sampledUses(Trace& trace) {
  auto all = PITWALL_TRY(sampledProcesses(trace));
  SampledUses uses;
  if (all.empty()) return uses;
  const double most_ns = all.front().use.cpu_ns;
  std::size_t shown = 0;
  for (; shown < std::min(all.size(), kProcesses) && all[shown].use.cpu_ns >= kHelper * most_ns; ++shown) {
    sortByTime(all[shown].threads);
    uses.sentences.push_back(describe(all[shown]));
  }
  if (all.size() > shown)
    uses.sentences.push_back(describeRest(std::span<const Process>(all).subspan(shown), most_ns));
  const Use& most = all.front().use;
  int processes = 0;
  double all_ns = 0;
  for (const Process& process : all) {
    if (process.use.cpu_ns < kHelper * most_ns) continue;
    ++processes;
    all_ns += process.use.cpu_ns;
  }
  uses.busiest = SampledUse{all.front().program,
                            most.cpus(),
                            static_cast<TimeNs>(most.cpu_ns),
                            static_cast<TimeNs>(most.span_ns),
                            std::atoi(trace.meta(meta::kUsableCpus).value_or("0").c_str()),
                            processes,
                            all_ns / std::max(most.span_ns, 1.0)};
  return uses;
}

}  // namespace pitwall::analysis
