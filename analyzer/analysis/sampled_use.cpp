#include "analyzer/analysis/sampled_use.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "analyzer/units_text.h"

namespace pitwall::analysis {
namespace {

constexpr std::size_t kProcesses = 3, kThreads = 4;  // that are told

struct Use {
  double cpu_ns = 0, span_ns = 0, most = 0;
  std::string name;
  double cpus() const { return span_ns > 0 ? cpu_ns / span_ns : 0; }
};

// Each sample holds until the next.
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

}  // namespace

Result<std::vector<std::string>> describeSampledUse(Trace& trace) {
  std::map<std::uint32_t, Process> processes;
  const auto tracks = trace.tracks();
  for (std::uint32_t i = 0; i < tracks.size(); ++i) {
    const TrackInfo& track = tracks[i];
    const bool cpu = track.name == "cpu", resident = track.name == "resident memory" && !track.thread;
    if (track.kind != TrackKind::counter || !track.process || !(cpu || resident)) continue;
    const auto samples = trace.counters(TrackId{i + 1});
    if (!samples.has_value()) return fail(samples.error());
    Process& process = processes[track.process.value];
    if (resident) {
      for (const CounterSample& sample : *samples)
        process.resident_bytes = std::max(process.resident_bytes, sample.value);
    } else if (!track.thread) {
      process.use = useOf(*samples);
      const ProcessInfo& info = trace.processes()[track.process.value - 1];
      process.use.name = fmt::format("{} (process {})", info.name, info.pid);
    } else {
      process.threads.push_back(useOf(*samples));
      process.threads.back().name = trace.threads()[track.thread.value - 1].name;
    }
  }
  std::vector<Process> busiest;
  for (auto& [id, process] : processes) {
    if (process.use.cpu_ns > 0) busiest.push_back(std::move(process));
  }
  std::stable_sort(busiest.begin(), busiest.end(),
                   [](const Process& a, const Process& b) { return a.use.cpu_ns > b.use.cpu_ns; });
  std::vector<std::string> sentences;
  for (std::size_t i = 0; i < std::min(busiest.size(), kProcesses); ++i) {
    sortByTime(busiest[i].threads);
    sentences.push_back(describe(busiest[i]));
  }
  if (busiest.size() > kProcesses)
    sentences.push_back(fmt::format("{} more process{} used CPU time.", busiest.size() - kProcesses,
                                    busiest.size() - kProcesses == 1 ? "" : "es"));
  return sentences;
}

}  // namespace pitwall::analysis
