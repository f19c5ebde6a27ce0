// What each thread waits for, as its sampled states say: analysis_wait.
#include <algorithm>
#include <array>
#include <cmath>

#include "analyzer/analysis/sampled.h"
#include "analyzer/analysis/temp_table.h"

namespace pitwall::analysis {
namespace {

constexpr std::size_t kRunning = 0, kStorageRead = 8, kUninterruptible = 11;

struct Shares {
  std::array<double, kThreadStates> all{};
  double late_storage = 0;
};

// The clocks of CPU time and of waiting for a CPU are exact; sampling a thread's state is not: a processor
// that wakes up for the sample handles pending work first, and a thread that waited for it is then seen
// running. So the clocks give the time for which it ran or was ready to, and the samples divide the rest.
// Where too few other states were sampled, the samples are used alone.
void useClocks(double ran, std::size_t seen_waiting, Shares& shares) {
  constexpr std::size_t kFewestSeen = 3;
  const double waited = 1 - shares.all[kRunning];
  if (seen_waiting < kFewestSeen || waited <= 0) return;
  const double factor = (1 - std::clamp(ran, 0.0, 1.0)) / waited;
  for (std::size_t state = 0; state < shares.all.size(); ++state) {
    if (state != kRunning) shares.all[state] *= factor;
  }
  shares.all[kRunning] = std::clamp(ran, 0.0, 1.0);
}

// Each state is valid until the next sample.
Shares sharesOf(const std::vector<CounterSample>& states) {
  Shares shares;
  if (states.size() < 2) return shares;
  const TimeNs from = states.front().time_ns, to = states.back().time_ns, half = from + (to - from) / 2;
  double late = 0;
  for (std::size_t i = 0; i + 1 < states.size(); ++i) {
    const auto length = static_cast<double>(states[i + 1].time_ns - states[i].time_ns);
    const double value = std::isfinite(states[i].value) ? states[i].value : 0;
    const auto state = static_cast<std::size_t>(std::clamp(value, 0.0, kThreadStates - 1.0));
    shares.all[state] += length;
    if (states[i].time_ns < half) continue;
    late += length;
    if (state == kStorageRead || state == kUninterruptible) shares.late_storage += length;
  }
  for (double& share : shares.all) share /= std::max(static_cast<double>(to - from), 1.0);
  shares.late_storage /= std::max(late, 1.0);
  return shares;
}

}  // namespace

Status writeWaits(Trace& trace, const Sampled& sampled) {
  TempTable table(
      "analysis_wait",
      "process INTEGER, thread TEXT, thread_id INTEGER, is_main INTEGER, cpu REAL, waiting_for_cpu REAL, "
      "voluntary_switches "
      "REAL, "
      "rank INTEGER, samples INTEGER, span_share REAL, running REAL, mutex REAL, timed_wait REAL, wait REAL, "
      "sleep REAL, poll REAL, input REAL, output REAL, storage_read REAL, storage_write REAL, sync REAL, "
      "uninterruptible REAL, child REAL, asleep REAL, stopped REAL, late_storage REAL");
  const auto recorded = static_cast<double>(std::max<TimeNs>(sampled.to_ns - sampled.from_ns, 1));
  for (const auto& thread : sampled.threads) {
    if (thread.states.size() < 2 || thread.id.value > trace.threads().size()) continue;
    const auto rank =
        1 + std::count_if(sampled.threads.begin(), sampled.threads.end(), [&](const auto& other) {
          return other.process == thread.process && other.cpu.total_ns > thread.cpu.total_ns;
        });
    Shares shares = sharesOf(thread.states);
    const auto waiting = std::count_if(thread.states.begin(), thread.states.end(),
                                       [](const CounterSample& sample) { return sample.value != kRunning; });
    if (thread.cpu.span() > 0)
      useClocks(thread.cpu.mean() + thread.waiting.mean(), static_cast<std::size_t>(waiting), shares);
    const auto span = static_cast<double>(thread.states.back().time_ns - thread.states.front().time_ns);
    const ThreadInfo& info = trace.threads()[thread.id.value - 1];
    const bool is_main = info.process && info.process.value <= trace.processes().size() &&
                         info.tid == trace.processes()[info.process.value - 1].pid;
    std::vector<SqlValue> row{static_cast<std::int64_t>(thread.process.value),
                              info.name,
                              static_cast<std::int64_t>(thread.id.value),
                              static_cast<std::int64_t>(is_main),
                              thread.cpu.mean(),
                              thread.waiting.mean(),
                              thread.voluntary.mean(),
                              static_cast<std::int64_t>(rank),
                              static_cast<std::int64_t>(thread.states.size()),
                              span / recorded};
    row.insert(row.end(), shares.all.begin(), shares.all.end());
    row.emplace_back(shares.late_storage);
    table.row(std::move(row));
  }
  return table.write(trace);
}

}  // namespace pitwall::analysis
