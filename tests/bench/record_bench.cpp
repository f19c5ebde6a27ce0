// The cost of recording: each figure beside its target and, for scopes, as a multiple of two clock readings
// in the same batch, the lower bound of a scope. Minimum and lower quartile of many short batches, since
// other load only adds time.
//
//   record_bench [--seconds N] [--kills N] [--soak SECONDS] [--dir FOLDER]
//
// --kills and --soak run the two long checks (default 20 kills, no soak); FOLDER gets the files (default: the
// system's temporary folder; the drain's rate is that of its disk).
#include "tests/bench/record_bench.h"

#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "db/sink.h"
#include "runtime/profiler.h"
#include "runtime/record_macros.h"

namespace pitwall::bench {

void row(const std::string& what, const std::string& figure, const std::string& target, bool reached) {
  fmt::print("{:<44} {:<40} {:<28} {}\n", what, figure, target, reached ? "reached" : "NOT REACHED");
  std::fflush(stdout);
}

namespace {

// Keeps only counts.
class CountingSink : public TraceSink {
 public:
  struct Counts {
    std::atomic<std::int64_t> events{0}, lost{0};
  };
  explicit CountingSink(Counts& counts) : counts_(counts) {}
  StringId string(std::string_view) override { return {1}; }
  ProcessId process(const ProcessInfo&) override { return {1}; }
  ThreadId thread(const ThreadInfo&) override { return {1}; }
  DeviceId device(const DeviceInfo&) override { return {1}; }
  TrackId track(const TrackInfo&) override { return {1}; }
  OperatorId operatorFacts(const OperatorFacts&) override { return {1}; }
  KernelId kernelFacts(const KernelFacts&) override { return {1}; }
  FrameId frame(const FrameInfo&) override { return {1}; }
  StackId stack(const StackInfo&) override { return {1}; }
  void meta(std::string_view, std::string_view) override {}
  void setting(const SettingInEffect&) override {}
  void tunable(const TunableInEffect&) override {}
  void iteration(const IterationMark&) override {}
  void loss(const Loss& loss) override { counts_.lost += loss.count; }
  void events(TrackId, std::span<const Event> events) override {
    counts_.events += static_cast<std::int64_t>(events.size());
  }
  void dependencies(std::span<const Dependency>) override {}
  void counters(TrackId, std::span<const CounterSample>) override {}
  Status flush() override { return {}; }
  Status finish() override { return {}; }

 private:
  Counts& counts_;
};

double tickNs() {  // one tick of the recorder's clock
  const double before = nsOf(CLOCK_MONOTONIC);
  const Ticks ticks = Profiler::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  return (nsOf(CLOCK_MONOTONIC) - before) / static_cast<double>(Profiler::now() - ticks);
}

constexpr int kBatch = 4096;  // short: most batches are not interrupted, and none fills a ring

template <class Body>
[[gnu::noinline]] double batchTicks(Body body) {
  const Ticks begin = Profiler::now();
  for (int i = 0; i < kBatch; ++i) body();
  return static_cast<double>(Profiler::now() - begin) / kBatch;
}

[[gnu::noinline]] double floorTicks() {
  return batchTicks([] {
    Ticks one = Profiler::now();
    asm volatile("" : "+r"(one));
    Ticks two = Profiler::now();
    asm volatile("" : "+r"(two));
  });
}

struct Cost {
  double min_ns = 1e9, p25_ns = 0, min_ratio = 1e9, p25_ratio = 0;
};

double quantile(std::vector<double>& values, double q) {
  const auto at = static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

// `between` runs untimed after every batch.
template <class Body>
Cost measure(double seconds, double tick_ns, Body body, const std::function<void()>& between = {}) {
  std::vector<double> costs, floors, ratios;
  const double end = nsOf(CLOCK_MONOTONIC) + seconds * 1e9;
  while (nsOf(CLOCK_MONOTONIC) < end) {
    const double floor = floorTicks();
    const double cost = batchTicks(body);
    costs.push_back(cost * tick_ns);
    floors.push_back(floor);
    ratios.push_back(cost / floor);
    if (between) between();
  }
  Cost cost;
  cost.min_ns = *std::min_element(costs.begin(), costs.end());
  cost.min_ratio = cost.min_ns / (*std::min_element(floors.begin(), floors.end()) * tick_ns);
  cost.p25_ns = quantile(costs, 0.25);
  cost.p25_ratio = quantile(ratios, 0.25);
  return cost;
}

void rowOf(const std::string& what, const Cost& cost, double most_ratio) {
  row(what,
      fmt::format("{:.1f} ns min, {:.1f} p25; x {:.3f}, {:.3f}", cost.min_ns, cost.p25_ns, cost.min_ratio,
                  cost.p25_ratio),
      fmt::format("<= {:.2f} x two readings", most_ratio),
      std::max(cost.min_ratio, cost.p25_ratio) <= most_ratio);
}

// --- scopes --------------------------------------------------------------------------------------------

void siteScope() { PITWALL_SCOPE("bench"); }

template <int kWork>
[[gnu::always_inline]] inline std::uint64_t chain(std::uint64_t x) {
  for (int i = 0; i < kWork; ++i) {
    x = x * 6364136223846793005U + 1442695040888963407U;
    asm volatile("" : "+r"(x));
  }
  return x;
}

void benchScopes(const RecordSettings& settings, double tick_ns) {
  const std::string rings = settings.folder + "/record_bench.rings";
  CountingSink::Counts counts;
  for (const bool consumer : {true, false}) {
    Profiler profiler({.flush_interval_ms = consumer ? 250 : 0});
    const SiteId site = profiler.site("work", EventKind::scope);
    (void)profiler.start(std::make_unique<CountingSink>(counts), {.ring_path = rings});
    const std::function<void()> drain = consumer ? std::function<void()>() : [&] { (void)profiler.flush(); };
    const char* with = consumer ? "drained" : "no consumer";
    rowOf(fmt::format("scope macro, {}", with),
          measure(
              settings.seconds, tick_ns, [] { siteScope(); }, drain),
          1.05);
    rowOf(fmt::format("ScopedSpan, {}", with),
          measure(
              settings.seconds, tick_ns, [&] { const ScopedSpan span(profiler, site); }, drain),
          1.05);
    if (!consumer) continue;
    rowOf("operator (two records, two readings)",
          measure(settings.seconds, tick_ns,
                  [&] {
                    const Ticks started = Profiler::now();
                    profiler.operatorRun({started, started, started, Profiler::now(), 1, {}});
                  }),
          1.10);
    std::atomic<bool> done{false};
    std::thread other([&] {
      while (!done.load(std::memory_order_relaxed)) siteScope();
    });
    rowOf("scope macro, two threads", measure(settings.seconds, tick_ns, [] { siteScope(); }), 1.05);
    done = true;
    other.join();
  }
}

void benchWork(const RecordSettings& settings, double tick_ns) {
  CountingSink::Counts counts;
  Profiler profiler;
  (void)profiler.start(std::make_unique<CountingSink>(counts));
  std::vector<double> added, by_clock;
  const double end = nsOf(CLOCK_MONOTONIC) + settings.seconds * 1e9;
  double bare_ns = 1e9;
  while (nsOf(CLOCK_MONOTONIC) < end) {
    // Each batch has its own state of the work, so that it stays in a register: otherwise it might alias a
    // scope's stores.
    const double bare = batchTicks([x = std::uint64_t{1}]() mutable { x = chain<32>(x); });
    const double clock = batchTicks([x = std::uint64_t{1}]() mutable {
      Ticks one = Profiler::now();
      asm volatile("" : "+r"(one));
      x = chain<32>(x);
      Ticks two = Profiler::now();
      asm volatile("" : "+r"(two));
    });
    const double with = batchTicks([x = std::uint64_t{1}]() mutable {
      PITWALL_SCOPE("work");
      x = chain<32>(x);
    });
    bare_ns = std::min(bare_ns, bare * tick_ns);
    by_clock.push_back((clock - bare) * tick_ns);
    added.push_back((with - bare) * tick_ns);
  }
  const double p25 = quantile(added, 0.25), median = quantile(added, 0.5);
  row(fmt::format("added to {:.0f} ns of work", bare_ns),
      fmt::format("{:.2f} ns p25, {:.2f} median; two readings {:.2f}", p25, median, quantile(by_clock, 0.25)),
      "<= 1 ns", p25 <= 1);
}

void benchDisabled(const RecordSettings& settings, double tick_ns) {
  // Eight in a row: otherwise the placement of the loop's branch would outweigh the scope.
  const auto disabled = [] {
    for (int i = 0; i < 8; ++i) {
      siteScope();
      asm volatile("" ::: "memory");
    }
  };
  std::vector<double> net;
  const double end = nsOf(CLOCK_MONOTONIC) + settings.seconds * 1e9;
  double gross = 1e9;
  while (nsOf(CLOCK_MONOTONIC) < end) {
    const double with = batchTicks(disabled) * tick_ns / 8;
    gross = std::min(gross, with);
    net.push_back(with);
  }
  row("disabled scope, loop included", fmt::format("{:.2f} ns min, {:.2f} p25", gross, quantile(net, 0.25)),
      "<= 0.35 ns", gross <= 0.35);
}

// In batches, so that an interruption in one of them does not affect the others. The batches' memory has been
// touched before, so that page faults do not fall between the scopes.
void benchTail(const RecordSettings& settings, double tick_ns) {
  constexpr int kBatches = 40, kScopes = 50'000;
  CountingSink::Counts counts;
  Profiler profiler;
  (void)profiler.start(std::make_unique<CountingSink>(counts),
                       {.ring_path = settings.folder + "/record_bench.rings"});
  std::vector<double> ticks(kScopes, 1), bare_ticks(kScopes, 1);
  std::vector<double> p999, p9999, bare_p999;
  double p50 = 0, p99 = 0;
  for (int batch = 0; batch < kBatches; ++batch) {
    for (int i = 0; i < kScopes; ++i) {
      const Ticks begin = Profiler::now();
      siteScope();
      ticks[static_cast<std::size_t>(i)] = static_cast<double>(Profiler::now() - begin);
    }
    for (int i = 0; i < kScopes; ++i) {
      const Ticks begin = Profiler::now();
      bare_ticks[static_cast<std::size_t>(i)] = static_cast<double>(Profiler::now() - begin);
    }
    p50 = quantile(ticks, 0.5) * tick_ns;
    p99 = quantile(ticks, 0.99) * tick_ns;
    p999.push_back(quantile(ticks, 0.999) * tick_ns);
    p9999.push_back(quantile(ticks, 0.9999) * tick_ns);
    bare_p999.push_back(quantile(bare_ticks, 0.999) * tick_ns);
  }
  const double usual = quantile(p999, 0.5);
  row("p99.9 of a scope, one reading included",
      fmt::format("{:.0f} ns median of {} batches, {:.0f} least", usual, kBatches, quantile(p999, 0)),
      "<= 60 ns", usual <= 60);
  fmt::print("{:<44} p50 {:.0f}, p99 {:.0f}, p99.99 {:.0f} ns; p99.9 of two readings alone {:.0f} ns\n",
             "  besides", p50, p99, quantile(p9999, 0.5), quantile(bare_p999, 0.5));
}

// --- memory, drain, soak, kills ------------------------------------------------------------------------

std::int64_t residentBytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

void benchMemory() {
  CountingSink::Counts counts;
  Profiler profiler({.when_full = RingPolicy::block});
  (void)profiler.start(std::make_unique<CountingSink>(counts));
  for (int i = 0; i < 2'000'000; ++i) siteScope();
  (void)profiler.flush();
  const std::int64_t before = residentBytes();
  for (int i = 0; i < 5'000'000; ++i) siteScope();
  (void)profiler.flush();
  const std::int64_t grown = residentBytes() - before;
  row("memory growth over 5 M scopes",
      fmt::format("{} bytes, {:.4f} per scope", grown, static_cast<double>(grown) / 5e6),
      "0 (< 1 page in 1000 scopes)", grown < 5'000'000 / 1000 * 4096 / 100);
}

RecordSettings read(int argc, char** argv) {
  RecordSettings settings;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--seconds") settings.seconds = std::stod(argv[i + 1]);
    if (name == "--kills") settings.kills = std::stoi(argv[i + 1]);
    if (name == "--soak") settings.soak_seconds = std::stod(argv[i + 1]);
    if (name == "--dir") settings.folder = argv[i + 1];
  }
  return settings;
}

}  // namespace
}  // namespace pitwall::bench

int main(int argc, char** argv) {
  using namespace pitwall::bench;
  const RecordSettings settings = read(argc, argv);
  if (settings.kills > 0) benchKills(settings);  // first: fork() before there are threads
  const double tick_ns = tickNs();
  fmt::print("one clock reading: {:.1f} ns\n", floorTicks() * tick_ns / 2);
  benchDisabled(settings, tick_ns);
  benchScopes(settings, tick_ns);
  benchWork(settings, tick_ns);
  benchTail(settings, tick_ns);
  benchMemory();
  benchDrain(settings, std::max(2.0, settings.seconds), false);
  if (settings.soak_seconds > 0) benchDrain(settings, settings.soak_seconds, true);
  return 0;
}
