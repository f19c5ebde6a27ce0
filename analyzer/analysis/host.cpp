// How busy the machine was with other programs: analysis_host.
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>

#include "analyzer/analysis/analysis_tables.h"
#include "analyzer/analysis/sampled.h"
#include "analyzer/analysis/temp_table.h"
#include "db/meta.h"

namespace pitwall::analysis {

constexpr Column kHostColumns[] = {
    {"host_cpus", kReal, "CPUs", "CPUs of the machine in use by all programs; null = not sampled"},
    {"others_cpus", kReal, "CPUs",
     "used by other programs than the recorded one and the recorder; null = not sampled"},
    {"steal_cpus", kReal, "CPUs", "taken by the hypervisor; null = not sampled"},
    {"throttled_cpus", kReal, "CPUs",
     "withheld by the quota of the program's control group; null = not sampled"},
    {"runnable_mean", kReal, "count", "threads of the machine that run or are ready to; null = not sampled"},
    {"cpu_pressure", kReal, "0..1",
     "share of the time in which some thread of the machine waited for a CPU; null = not sampled"},
    {"io_pressure", kReal, "0..1",
     "share of the time in which some thread of the machine waited for storage; null = not sampled"},
    {"own_cpus", kReal, "CPUs", "used by the program's threads; null = not sampled"},
    {"waiting_cpus", kReal, "CPUs", "threads of the program that waited for a CPU; null = not sampled"},
    {"usable_cpus", kReal, "CPUs", "that the program may use: affinity and quota; null = unknown"},
    {"taken_cpus", kReal, "CPUs",
     "what others took of the CPUs that the program asked for: at most what they used, and at most what the "
     "program could have used beyond what it got; null = not sampled"},
    {"taken_share", kReal, "0..1", "taken_cpus of own_cpus + taken_cpus; null = not sampled"},
    {"waiting_share", kReal, "0..1",
     "of the time that the program's threads ran or were ready to: they waited for a CPU; null = not "
     "sampled"},
    {"steal_share", kReal, "0..1", "steal_cpus of usable_cpus; null = not sampled"},
    {"busy", kInteger, "0 or 1",
     "1 = other programs or the hypervisor took so much that times are unreliable: taken_cpus >= 0.05 and "
     "taken_share >= 0.05, or steal_share >= 0.05; 0 = they did not; null = not sampled"},
};
constexpr TableDeclaration kHostTable{
    "analysis_host", "One row: how the machine's CPUs were used, as means over the recording.", kHostColumns};

namespace {

constexpr double kBusyTaken = 0.05, kBusySteal = 0.05;
constexpr double kBusyTakenCpus = 0.05;    // a program that mostly sleeps loses no significant time
constexpr std::size_t kFewestSamples = 5;  // of the machine: half a second

SqlValue number(const std::optional<double>& value) { return known(value.has_value(), value.value_or(0)); }

std::optional<double> metaNumber(const Trace& trace, const char* key) {
  const auto text = trace.meta(key);
  if (!text) return std::nullopt;
  const double value = std::strtod(text->c_str(), nullptr);
  return value > 0 ? std::optional(value) : std::nullopt;
}

struct Own {
  double cpus = 0, waiting = 0, ready_ns = 0, waiting_ns = 0;
};

Own ownUse(const Sampled& sampled) {
  Own own;
  const auto span = static_cast<double>(sampled.to_ns - sampled.from_ns);
  for (const auto& [id, process] : sampled.processes) own.cpus += process.cpu.total_ns / std::max(span, 1.0);
  for (const auto& thread : sampled.threads) {
    own.waiting_ns += thread.waiting.total_ns;
    own.ready_ns += thread.waiting.total_ns + thread.cpu.total_ns;
  }
  own.waiting = own.waiting_ns / std::max(span, 1.0);
  return own;
}

}  // namespace

Status writeHost(Trace& trace, const Sampled& sampled) {
  TempTable table(kHostTable);
  const auto mean = [&](const char* name) -> std::optional<double> {
    const auto found = sampled.host.find(name);
    if (found == sampled.host.end() || found->second.samples < kFewestSamples) return std::nullopt;
    return found->second.mean();
  };
  const Own own = ownUse(sampled);
  const bool has_threads = !sampled.threads.empty();
  const auto host = mean("host cpu"), steal = mean("host steal"), throttled = mean("throttled");
  auto others = mean("other processes cpu");
  // Recordings of earlier versions contain only the machine's load.
  if (!others && host && has_threads) others = std::max(0.0, *host - own.cpus);
  // A quota counts as given; the delay that it causes is not caused by other programs.
  auto usable = metaNumber(trace, meta::kUsableCpus);
  if (const auto quota = metaNumber(trace, meta::kCgroupCpus); usable && quota)
    usable = std::min(*usable, *quota);
  std::optional<double> taken, taken_share, steal_share, waiting_share;
  if (others && usable && has_threads) {
    const double wanted = std::min(own.cpus + own.waiting, *usable) - throttled.value_or(0);
    taken = std::clamp(wanted - own.cpus, 0.0, *others);
    taken_share = *taken / std::max(own.cpus + *taken, 1e-9);
  }
  if (steal && usable) steal_share = *steal / *usable;
  if (own.ready_ns > 0) waiting_share = own.waiting_ns / own.ready_ns;
  SqlValue busy;
  if (taken_share || steal_share)
    busy = static_cast<std::int64_t>((taken_share.value_or(0) >= kBusyTaken && *taken >= kBusyTakenCpus) ||
                                     steal_share.value_or(0) >= kBusySteal);
  table.row({number(host), number(others), number(steal), number(throttled),
             number(mean("host runnable threads")), number(mean("host cpu pressure")),
             number(mean("host io pressure")), known(has_threads, own.cpus), known(has_threads, own.waiting),
             number(usable), number(taken), number(taken_share), number(waiting_share), number(steal_share),
             busy});
  return table.write(trace);
}

void addHostFacts(Trace& trace, std::vector<Fact>& facts) {
  const char* columns[] = {"others_cpus", "taken_share", "waiting_share", "steal_share", "busy"};
  const auto rows =
      trace.query("SELECT others_cpus, taken_share, waiting_share, steal_share, busy FROM analysis_host");
  const bool there = rows.has_value() && !rows->rows.empty();
  for (std::size_t i = 0; i < std::size(columns); ++i) {
    const std::string name = columns[i];
    facts.push_back({name == "busy" ? "machine_busy" : name, there ? rows->rows[0][i] : SqlValue()});
  }
}

}  // namespace pitwall::analysis
