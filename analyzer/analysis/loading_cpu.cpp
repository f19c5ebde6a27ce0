#include "analyzer/analysis/loading_cpu.h"

#include <algorithm>
#include <cmath>

#include "analyzer/analysis/sampled.h"
#include "db/try.h"

namespace pitwall::analysis {
namespace {

constexpr double kFewestWaitSamples = 30;  // of a thread, within the waits
constexpr double kIsRunning = 0;           // of the counter "state"

struct StateSamples {
  double taken = 0, running = 0;
};

StateSamples samplesWithin(const std::vector<CounterSample>& states, const Intervals& waits) {
  StateSamples samples;
  auto wait = waits.begin();
  for (const CounterSample& state : states) {
    while (wait != waits.end() && wait->end_ns <= state.time_ns) ++wait;
    if (wait == waits.end()) break;
    if (state.time_ns < wait->start_ns) continue;
    ++samples.taken;
    samples.running += state.value == kIsRunning ? 1 : 0;
  }
  return samples;
}

}  // namespace

Result<std::optional<double>> cpusWhileWaiting(Trace& trace, std::span<const Iteration> iterations,
                                               const Intervals& waits) {
  if (waits.empty()) return std::optional<double>();
  const auto sampled = PITWALL_TRY(gatherSampled(trace, iterations));
  const Intervals disjoint = united(waits);
  double cpus = 0, most = 0;
  for (const SampledThread& thread : sampled.threads) {
    const StateSamples samples = samplesWithin(thread.window.states, disjoint);
    if (samples.taken == 0) continue;
    cpus += samples.running / samples.taken;
    most = std::max(most, samples.taken);
  }
  if (most < kFewestWaitSamples) return std::optional<double>();
  // Of a Poisson distribution: none in n samples allows 3 / n, and two standard deviations are added to more.
  return std::optional<double>(cpus + 2 * std::sqrt(cpus / most) + 3 / most);
}

}  // namespace pitwall::analysis
