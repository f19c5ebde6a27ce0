// The sampled processes: whether their threads work together, their storage and their memory:
// analysis_process.
#include <algorithm>
#include <array>

#include "analyzer/analysis/analysis_tables.h"
#include "analyzer/analysis/sampled.h"
#include "analyzer/analysis/temp_table.h"

namespace pitwall::analysis {

constexpr Column kProcessColumns[] = {
    {"process", kInteger, "id", "process number in the trace"},
    {"pid", kInteger, "id", "the operating system's process id"},
    {"name", kText, "", "base name of the executable"},
    {"busiest", kInteger, "0 or 1", "1 = it used most CPU time of all"},
    {"is_python", kInteger, "0 or 1", "1 = its executable is a Python interpreter"},
    {"begin_ns", kInteger, "ns", "first sample, since the trace's start"},
    {"span_ns", kInteger, "ns", "from the first to the last sample"},
    {"cpus", kReal, "CPUs", "that it uses: mean"},
    {"span_share", kReal, "0..1", "of the recording in which it was sampled"},
    {"working", kInteger, "count", "threads that use 0.05 CPUs or more"},
    {"one_share", kReal, "0..1",
     "of the time: exactly one of these runs or is ready to; null = states were not sampled"},
    {"together_share", kReal, "0..1",
     "of the time: several of these run or are ready to; null = states were not sampled"},
    {"read_bytes_per_second", kReal, "bytes/s", "read from storage; null = not sampled"},
    {"written_bytes_per_second", kReal, "bytes/s", "written to storage; null = not sampled"},
    {"major_faults", kReal, "1/s", "page faults that read from storage; null = not sampled"},
    {"third_bytes", kReal, "bytes",
     "most resident memory in the third tenth of its time; null = not sampled"},
    {"last_bytes", kReal, "bytes", "most resident memory in the last tenth; null = not sampled"},
    {"peak_bytes", kReal, "bytes", "most resident memory ever; null = not sampled"},
    {"growth_bytes_per_second", kReal, "bytes/s",
     "growth of resident memory from the third tenth on; null = not sampled"},
    {"rising", kInteger, "count",
     "how many of the seven tenths after it rise by 2 % of the growth or more; null = not sampled"},
    {"largest_step", kReal, "ratio", "share of the growth that is in one tenth; null = not sampled"},
    {"late_growth", kReal, "ratio", "share of the growth in the last two tenths; null = not sampled"},
    {"kernel_cpus", kReal, "CPUs", "used within the kernel: mean; null = not sampled"},
    {"minor_faults", kReal, "1/s", "page faults that do not read from storage; null = not sampled"},
    {"repeated_faults", kReal, "1/s",
     "those of minor_faults beyond what its growth to its peak explains; null = not sampled"},
};
constexpr TableDeclaration kProcessTable{
    "analysis_process",
    "A sampled process: its CPUs, storage and memory, and whether its threads work together.",
    kProcessColumns};

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

struct ResidentGrowth {
  double third = 0, last = 0, peak = 0, per_second = 0, largest_step = 0, late = 0;
  std::int64_t rising = 0;
};

// The most in each tenth: a fall within a tenth does not count. The release of memory at the
// end of a process is left out.
ResidentGrowth growthOf(const std::vector<CounterSample>& samples) {
  ResidentGrowth growth;
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
  TempTable table(kProcessTable);
  double most = 0;
  for (const auto& [id, process] : sampled.processes) most = std::max(most, process.cpu.total_ns);
  const auto recorded = static_cast<double>(std::max<TimeNs>(sampled.to_ns - sampled.from_ns, 1));
  for (const auto& [id, process] : sampled.processes) {
    if (process.cpu.samples == 0 || id.value == 0 || id.value > trace.processes().size()) continue;
    const ProcessInfo& info = trace.processes()[id.value - 1];
    const Together together = togetherOf(sampled, id);
    const bool states = together.working > 0 && together.total() > 0;
    const ResidentGrowth growth = growthOf(process.resident);
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
