// What recording costs the recorded thread, in ns and as a multiple of reading the clock twice, below which
// no span can be. `lost` must be 0: a dropped record is cheaper than a kept one.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <vector>

#include "runtime/profiler.h"

namespace pitwall {
namespace {

// Takes everything and keeps nothing but the number of losses.
class NullSink : public TraceSink {
 public:
  explicit NullSink(std::atomic<std::int64_t>& lost) : lost_(lost) {}
  StringId string(std::string_view) override { return {1}; }
  ProcessId process(const ProcessInfo&) override { return {1}; }
  ThreadId thread(const ThreadInfo&) override { return {1}; }
  DeviceId device(const DeviceInfo&) override { return {1}; }
  TrackId track(const TrackInfo&) override { return {1}; }
  OperatorId operatorFacts(const OperatorFacts&) override { return {1}; }
  KernelId kernelFacts(const KernelFacts&) override { return {1}; }
  void meta(std::string_view, std::string_view) override {}
  void setting(const SettingInEffect&) override {}
  void tunable(const TunableInEffect&) override {}
  void iteration(const IterationMark&) override {}
  void loss(const Loss& loss) override { lost_ += loss.count; }
  void events(TrackId, std::span<const Event>) override {}
  void dependencies(std::span<const Dependency>) override {}
  void counters(TrackId, std::span<const CounterSample>) override {}
  Status flush() override { return {}; }
  Status finish() override { return {}; }

 private:
  std::atomic<std::int64_t>& lost_;
};

// ns of reading the clock twice; the median of several rounds.
double twoReadingsNs() {
  std::vector<double> rounds;
  for (int round = 0; round < 601; ++round) {
    constexpr int kTimes = 8192;  // short: most rounds are not interrupted
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kTimes; ++i) {
      benchmark::DoNotOptimize(Profiler::now());
      benchmark::DoNotOptimize(Profiler::now());
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    rounds.push_back(took.count() / kTimes);
  }
  std::nth_element(rounds.begin(), rounds.begin() + 300, rounds.end());
  return rounds[300];
}

// Runs `record` once per iteration, in portions that fit the ring, so that the drain never has to hurry; only
// the portions are timed.
template <class Record>
void measure(benchmark::State& state, bool recording, Record record) {
  constexpr int kPortion = 8192;
  const double floor_ns = twoReadingsNs();
  std::atomic<std::int64_t> lost{0};
  Profiler profiler({.flush_interval_ms = 60'000, .poll_interval_ms = 60'000});
  if (recording) (void)profiler.start(std::make_unique<NullSink>(lost));
  const SiteId site = profiler.site("work", EventKind::scope);
  record(profiler, site);
  std::vector<double> portions;
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kPortion; ++i) record(profiler, site);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    state.SetIterationTime(took.count());
    portions.push_back(took.count() * 1e9 / kPortion);
    (void)profiler.flush();
  }
  (void)profiler.stop();
  std::nth_element(portions.begin(), portions.begin() + static_cast<std::ptrdiff_t>(portions.size() / 2),
                   portions.end());
  const double median = portions[portions.size() / 2];
  state.counters["ns"] = median;
  state.counters["x_two_clock_readings"] = median / floor_ns;
  state.counters["lost"] = static_cast<double>(lost.load());
}

void clockTwice(benchmark::State& state) {
  measure(state, false, [](Profiler&, SiteId) {
    benchmark::DoNotOptimize(Profiler::now());
    benchmark::DoNotOptimize(Profiler::now());
  });
}

// As instrumented code does it: the clock is read only while recording.
void span(benchmark::State& state) {
  measure(state, state.range(0) != 0, [](Profiler& profiler, SiteId site) {
    if (!profiler.isRecording()) return;
    const Ticks started = Profiler::now();
    profiler.span(site, started, Profiler::now());
  });
}

void scopedSpan(benchmark::State& state) {
  measure(state, state.range(0) != 0,
          [](Profiler& profiler, SiteId site) { const ScopedSpan scope(profiler, site); });
}

void operatorRun(benchmark::State& state) {
  measure(state, state.range(0) != 0, [](Profiler& profiler, SiteId) {
    if (!profiler.isRecording()) return;
    const Ticks started = Profiler::now();
    profiler.operatorRun({started, started, started, Profiler::now(), 1, {}});
  });
}

void dependency(benchmark::State& state) {
  measure(state, state.range(0) != 0, [](Profiler& profiler, SiteId) {
    profiler.dependency({1, 2, DependencyKind::readAfterWrite});
  });
}

BENCHMARK(clockTwice)->UseManualTime();
BENCHMARK(span)->ArgName("recording")->Arg(0)->Arg(1)->UseManualTime();
BENCHMARK(scopedSpan)->ArgName("recording")->Arg(0)->Arg(1)->UseManualTime();
BENCHMARK(operatorRun)->ArgName("recording")->Arg(0)->Arg(1)->UseManualTime();
BENCHMARK(dependency)->ArgName("recording")->Arg(0)->Arg(1)->UseManualTime();

}  // namespace
}  // namespace pitwall

BENCHMARK_MAIN();
