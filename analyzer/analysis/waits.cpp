// What each thread waits for, as its sampled states say: analysis_wait.
#include <algorithm>
#include <array>
#include <cmath>

#include "analyzer/analysis/analysis_tables.h"
#include "analyzer/analysis/sampled.h"
#include "analyzer/analysis/temp_table.h"

namespace pitwall::analysis {

constexpr Column kWaitColumns[] = {
    {"process", kInteger, "id", "process number in the trace"},
    {"thread", kText, "", "name of the thread"},
    {"thread_id", kInteger, "id", "thread number in the trace"},
    {"is_main", kInteger, "0 or 1", "1 = the process's first thread"},
    {"cpu", kReal, "0..1", "mean share of a CPU that it uses"},
    {"waiting_for_cpu", kReal, "0..1", "mean share of the time in which it waits for a CPU"},
    {"voluntary_switches", kReal, "1/s", "times that it gives up its CPU to wait"},
    {"rank", kInteger, "number", "1 = it uses most CPU time of its process, 2 = second, ..."},
    {"samples", kInteger, "count", "samples of its state, or of its stack where these are more"},
    {"span_share", kReal, "0..1", "of that time in which it was sampled"},
    {"running", kReal, "0..1",
     "on a CPU or ready for one, by the clocks of CPU time and of waiting for a CPU; the rest as states were "
     "seen"},
    {"mutex", kReal, "0..1", "waits for a mutex that another thread holds"},
    {"timed_wait", kReal, "0..1", "in a futex with a timeout, as waits for Python's interpreter lock"},
    {"wait", kReal, "0..1", "in a futex without a timeout: for work, a result, the end of a thread"},
    {"sleep", kReal, "0..1", "waits for a time"},
    {"poll", kReal, "0..1", "waits for events of files and sockets"},
    {"input", kReal, "0..1", "waits for data from a pipe, socket or terminal"},
    {"output", kReal, "0..1", "waits for a pipe or socket to accept data"},
    {"storage_read", kReal, "0..1", "in a call that reads a file"},
    {"storage_write", kReal, "0..1", "in a call that writes a file"},
    {"sync", kReal, "0..1", "in fsync and similar calls"},
    {"uninterruptible", kReal, "0..1", "in the kernel otherwise: page faults from files, opening, deleting"},
    {"child", kReal, "0..1", "waits for a process to end"},
    {"asleep", kReal, "0..1", "waits otherwise, or for something unknown"},
    {"stopped", kReal, "0..1", "stopped by a signal or a debugger"},
    {"late_storage", kReal, "0..1", "storage_read + uninterruptible in the second half of its time"},
};
constexpr TableDeclaration kWaitTable{"analysis_wait",
                                      "A sampled thread and what it waits for, from the first steady "
                                      "iteration to the last, else over the whole "
                                      "trace but for the imports with which a Python program begins. The "
                                      "columns from running to stopped are shares of its time, as "
                                      "docs/recording.md has them; they sum to 1.",
                                      kWaitColumns};
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
  TempTable table(kWaitTable);
  const auto recorded =
      static_cast<double>(std::max<TimeNs>(sampled.window_to_ns - sampled.window_from_ns, 1));
  for (const auto& thread : sampled.threads) {
    const WithinWindow& use = thread.window;
    if (use.states.size() < 2 || thread.id.value > trace.threads().size()) continue;
    const auto rank =
        1 + std::count_if(sampled.threads.begin(), sampled.threads.end(), [&](const auto& other) {
          return other.process == thread.process && other.window.cpu.total_ns > use.cpu.total_ns;
        });
    Shares shares = sharesOf(use.states);
    const auto waiting = std::count_if(use.states.begin(), use.states.end(),
                                       [](const CounterSample& sample) { return sample.value != kRunning; });
    if (use.cpu.span() > 0)
      useClocks(use.cpu.mean() + use.waiting.mean(), static_cast<std::size_t>(waiting), shares);
    const auto span = static_cast<double>(use.states.back().time_ns - use.states.front().time_ns);
    const ThreadInfo& info = trace.threads()[thread.id.value - 1];
    const bool is_main = info.process && info.process.value <= trace.processes().size() &&
                         info.tid == trace.processes()[info.process.value - 1].pid;
    std::vector<SqlValue> row{static_cast<std::int64_t>(thread.process.value),
                              info.name,
                              static_cast<std::int64_t>(thread.id.value),
                              static_cast<std::int64_t>(is_main),
                              use.cpu.mean(),
                              use.waiting.mean(),
                              use.voluntary.mean(),
                              static_cast<std::int64_t>(rank),
                              static_cast<std::int64_t>(use.states.size()),
                              span / recorded};
    row.insert(row.end(), shares.all.begin(), shares.all.end());
    row.emplace_back(shares.late_storage);
    table.row(std::move(row));
  }
  return table.write(trace);
}

}  // namespace pitwall::analysis
