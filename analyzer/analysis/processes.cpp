// The sampled processes: whether their threads work together, their storage and their memory:
// analysis_process.
#include <algorithm>
#include <array>

#include "analyzer/analysis/sampled.h"
#include "analyzer/analysis/temp_table.h"

namespace pitwall::analysis {
namespace {

constexpr double kWorking = 0.05;  // CPUs that a working thread uses at least
constexpr std::size_t kTenths = 10, kFirstTenth = 2;
constexpr double kRise = 0.02;  // of the growth

struct Together {
  std::int64_t working = 0;
  double none_ns = 0, one_ns = 0, several_ns = 0;
  double total() const { return none_ns + one_ns + several_ns; }
};

// How many of the working threads run at a time. The states of one sample are some microseconds
// apart.
Together togetherOf(const Sampled& sampled, ProcessId process) {
  struct Change {
    TimeNs time_ns;
    int difference;
  };
  Together result;
  std::vector<Change> changes;
  for (const auto& thread : sampled.threads) {
    if (thread.process != process || thread.cpu.mean() < kWorking || thread.states.empty()) continue;
    ++result.working;
    bool runs = false;
    for (const auto& sample : thread.states) {
      const bool now = sample.value == 0;
      if (now != runs) changes.push_back({sample.time_ns, now ? 1 : -1});
      runs = now;
    }
    if (runs) changes.push_back({thread.states.back().time_ns, -1});
  }
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.time_ns < b.time_ns; });
  int running = 0;
  for (std::size_t i = 0; i + 1 < changes.size(); ++i) {
    running += changes[i].difference;
    const auto length = static_cast<double>(changes[i + 1].time_ns - changes[i].time_ns);
    (running == 0 ? result.none_ns : running == 1 ? result.one_ns : result.several_ns) += length;
  }
  return result;
}

struct Growth {
  double third = 0, last = 0, peak = 0, per_second = 0, largest_step = 0, late = 0;
  std::int64_t rising = 0;
};

// The most in each tenth: a fall within a tenth does not count. The release of memory at the
// end of a process is left out.
Growth growthOf(const std::vector<CounterSample>& samples) {
  Growth growth;
  std::size_t count = samples.size();
  while (count > 0 && samples[count - 1].value <= 0) --count;
  for (std::size_t i = 0; i < count; ++i) growth.peak = std::max(growth.peak, samples[i].value);
  if (count < 2 * kTenths) return growth;
  const TimeNs from = samples.front().time_ns, span = samples[count - 1].time_ns - from;
  std::array<double, kTenths> most{};
  for (std::size_t i = 0; i < count; ++i) {
    const auto at =
        static_cast<double>(samples[i].time_ns - from) / static_cast<double>(std::max<TimeNs>(span, 1));
    auto& tenth = most[std::min(static_cast<std::size_t>(at * kTenths), kTenths - 1)];
    tenth = std::max(tenth, samples[i].value);
  }
  growth.third = most[kFirstTenth];
  growth.last = most[kTenths - 1];
  const double total = growth.last - growth.third;
  if (total <= 0) return growth;
  const double seconds = static_cast<double>(span) * 1e-9 * (kTenths - 1 - kFirstTenth) / kTenths;
  growth.per_second = total / std::max(seconds, 1e-9);
  for (std::size_t i = kFirstTenth + 1; i < kTenths; ++i) {
    const double step = most[i] - most[i - 1];
    growth.rising += step >= kRise * total;
    growth.largest_step = std::max(growth.largest_step, step / total);
  }
  growth.late = (most[kTenths - 1] - most[kTenths - 3]) / total;
  return growth;
}

// A page that is used for the first time faults once: where the process grows beyond its peak so far, growth
// explains as many faults of that time. With huge pages it explains fewer, so time without growth counts in
// full.
double repeatedFaults(const SampledProcess& process) {
  constexpr double kPageBytes = 4096;
  const auto& faults = process.minor_faults;
  if (faults.size() < 2) return 0;
  double peak = process.resident.empty() ? 0 : process.resident.front().value, repeated = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i + 1 < faults.size(); ++i) {
    double now = peak;
    for (; at < process.resident.size() && process.resident[at].time_ns <= faults[i + 1].time_ns; ++at)
      now = std::max(now, process.resident[at].value);
    const double seconds = static_cast<double>(faults[i + 1].time_ns - faults[i].time_ns) * 1e-9;
    repeated += std::max(0.0, faults[i].value * seconds - (now - peak) / kPageBytes);
    peak = now;
  }
  return repeated /
         std::max(static_cast<double>(faults.back().time_ns - faults.front().time_ns) * 1e-9, 1e-9);
}

}  // namespace

Status writeProcesses(Trace& trace, const Sampled& sampled) {
  TempTable table(
      "analysis_process",
      "process INTEGER, pid INTEGER, name TEXT, busiest INTEGER, is_python INTEGER, begin_ns INTEGER, "
      "span_ns "
      "INTEGER, cpus REAL, span_share REAL, working INTEGER, one_share REAL, together_share REAL, "
      "read_bytes_per_second REAL, written_bytes_per_second REAL, major_faults REAL, third_bytes REAL, "
      "last_bytes REAL, peak_bytes REAL, growth_bytes_per_second REAL, rising INTEGER, largest_step REAL, "
      "late_growth REAL, "
      "kernel_cpus REAL, minor_faults REAL, repeated_faults REAL");
  double most = 0;
  for (const auto& [id, process] : sampled.processes) most = std::max(most, process.cpu.total_ns);
  const auto recorded = static_cast<double>(std::max<TimeNs>(sampled.to_ns - sampled.from_ns, 1));
  for (const auto& [id, process] : sampled.processes) {
    if (process.cpu.samples == 0 || id.value == 0 || id.value > trace.processes().size()) continue;
    const ProcessInfo& info = trace.processes()[id.value - 1];
    const Together together = togetherOf(sampled, id);
    const bool states = together.working > 0 && together.total() > 0;
    const Growth growth = growthOf(process.resident);
    const bool memory = growth.peak > 0;
    const bool python = info.name.rfind("python", 0) == 0;
    table.row({static_cast<std::int64_t>(id.value),
               info.pid,
               info.name,
               static_cast<std::int64_t>(most > 0 && process.cpu.total_ns == most),
               static_cast<std::int64_t>(python),
               process.cpu.from_ns,
               process.cpu.to_ns - process.cpu.from_ns,
               process.cpu.mean(),
               process.cpu.span() / recorded,
               together.working,
               known(states, together.one_ns / std::max(together.total(), 1.0)),
               known(states, together.several_ns / std::max(together.total(), 1.0)),
               known(process.read.samples > 0, process.read.mean()),
               known(process.written.samples > 0, process.written.mean()),
               known(process.major_faults.samples > 0, process.major_faults.mean()),
               known(memory, growth.third),
               known(memory, growth.last),
               known(memory, growth.peak),
               known(memory, growth.per_second),
               known(memory, growth.rising),
               known(memory, growth.largest_step),
               known(memory, growth.late),
               known(process.kernel_cpu.samples > 0, process.kernel_cpu.mean()),
               known(!process.minor_faults.empty(), held(process.minor_faults).mean()),
               known(!process.minor_faults.empty(), repeatedFaults(process))});
  }
  return table.write(trace);
}

}  // namespace pitwall::analysis
