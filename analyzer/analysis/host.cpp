// How busy the machine was with other programs: analysis_host.
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>

#include "analyzer/analysis/sampled.h"
#include "analyzer/analysis/temp_table.h"
#include "db/meta.h"

namespace pitwall::analysis {
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
  TempTable table(
      "analysis_host",
      "host_cpus REAL, others_cpus REAL, steal_cpus REAL, throttled_cpus REAL, runnable_mean REAL, "
      "cpu_pressure REAL, io_pressure REAL, own_cpus REAL, waiting_cpus REAL, usable_cpus REAL, "
      "taken_cpus REAL, taken_share REAL, waiting_share REAL, steal_share REAL, busy INTEGER");
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
