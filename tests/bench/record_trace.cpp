// Recording into a trace on disk: the rate of the drain, and what a killed process leaves.
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "db/reader.h"
#include "db/store.h"
#include "runtime/profiler.h"
#include "tests/bench/record_bench.h"

namespace pitwall::bench {
namespace {

double processCpuNs() { return nsOf(CLOCK_PROCESS_CPUTIME_ID); }

struct Reported {
  std::atomic<std::uint64_t> spans, ready;
};

// The child: records into a trace until it is killed.
[[noreturn]] void recordUntilKilled(const std::string& path, Reported& reported) {
  auto sink = createTrace(path);
  Profiler profiler({.flush_interval_ms = 2, .when_full = RingPolicy::block});
  const SiteId site = profiler.site("work", EventKind::scope);
  const SiteId outer = profiler.site("outer", EventKind::scope);
  if (!sink.has_value() ||
      !profiler.start(std::move(sink).value(), {.ring_path = ring::filePath(path)}).has_value())
    _exit(1);
  (void)profiler.enter(outer);
  for (std::uint64_t i = 0;; ++i) {
    { const ScopedSpan span(profiler, site); }
    reported.spans.store(i + 1);
    reported.ready.store(1);
  }
}

}  // namespace

void benchDrain(const RecordSettings& settings, double seconds, bool soak) {
  const std::string path = settings.folder + "/record_bench.pitwall";
  auto sink = createTrace(path);
  if (!sink.has_value()) return (void)fmt::print("{}\n", sink.error().message);
  Profiler profiler({.when_full = RingPolicy::block});
  const SiteId site = profiler.site("work", EventKind::scope);
  (void)profiler.start(std::move(sink).value(), {.ring_path = ring::filePath(path)});
  std::atomic<bool> done{false};
  std::atomic<std::int64_t> emitted{0};
  std::atomic<double> writer_cpu{0};
  const double wall = nsOf(CLOCK_MONOTONIC), cpu = processCpuNs();
  const auto body = [&] {
    std::int64_t count = 0;
    for (; !done.load(std::memory_order_relaxed); ++count) const ScopedSpan span(profiler, site);
    emitted += count;
    writer_cpu = writer_cpu + nsOf(CLOCK_THREAD_CPUTIME_ID);
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < (soak ? 2 : 1); ++i) threads.emplace_back(body);
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  done = true;
  for (std::thread& thread : threads) thread.join();
  const Status stopped = profiler.stop();
  const double wall_s = (nsOf(CLOCK_MONOTONIC) - wall) / 1e9;
  const double drain_s = (processCpuNs() - cpu - writer_cpu) / 1e9;
  const auto bytes = std::filesystem::file_size(path);
  auto trace = Trace::open(path);
  std::int64_t found = 0, lost = 0;
  if (trace.has_value()) {
    const auto rows = (*trace)->query("SELECT count(*) FROM event WHERE name = 'work'");
    if (rows.has_value()) found = std::get<std::int64_t>(rows->rows[0][0]);
    for (const Loss& loss : (*trace)->losses()) lost += loss.count;
  }
  const double rate = static_cast<double>(emitted) / drain_s / 1e6;
  if (soak) {
    row(fmt::format("soak: 2 threads, {:.0f} s, lossless", wall_s),
        fmt::format("{} emitted, {} in the trace, {} lost", emitted.load(), found, lost), "equal",
        found == emitted && lost == 0 && stopped.has_value());
  } else {
    row("drain into the store, on disk",
        fmt::format("{:.1f} M events/s/core ({:.1f} M/s, {:.1f} B/event)", rate,
                    static_cast<double>(emitted) / wall_s / 1e6,
                    static_cast<double>(bytes) / static_cast<double>(emitted)),
        ">= 10 M events/s/core", rate >= 10);
  }
  std::filesystem::remove(path);
}

void benchKills(const RecordSettings& settings) {
  const std::string path = settings.folder + "/record_bench_kill.pitwall";
  auto& reported =
      *static_cast<Reported*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::uint64_t committed = 0, missing = 0, twice = 0, open = 0;
  for (int i = 0; i < settings.kills; ++i) {
    reported.spans = reported.ready = 0;
    const pid_t child = fork();
    if (child == 0) recordUntilKilled(path, reported);
    while (reported.ready == 0 && waitpid(child, nullptr, WNOHANG) == 0) usleep(100);
    usleep(static_cast<useconds_t>(i % 25 * 500));
    ::kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const std::uint64_t at_least = reported.spans;
    auto trace = Trace::open(path);
    std::uint64_t found = 0;
    if (trace.has_value()) {
      const auto rows = (*trace)->query("SELECT count(*) FROM event WHERE name = 'work'");
      if (rows.has_value()) found = static_cast<std::uint64_t>(std::get<std::int64_t>(rows->rows[0][0]));
      const auto opened = (*trace)->query("SELECT count(*) FROM event WHERE name = 'outer'");
      if (opened.has_value()) open += static_cast<std::uint64_t>(std::get<std::int64_t>(opened->rows[0][0]));
    }
    committed += at_least;
    missing += found < at_least ? at_least - found : 0;
    twice += found > at_least + 2 ? found - at_least - 2 : 0;
  }
  row(fmt::format("{} x SIGKILL", settings.kills),
      fmt::format("{:.1f} M committed, {} missing, {} twice, {} open", static_cast<double>(committed) / 1e6,
                  missing, twice, open),
      "0 lost, open scopes shown",
      missing == 0 && twice == 0 && open == static_cast<std::uint64_t>(settings.kills));
  std::filesystem::remove(path);
}

}  // namespace pitwall::bench
