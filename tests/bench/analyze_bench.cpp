// How long an analysis takes, part by part and rule by rule, beside one sequential scan of the same file's
// columns, which nothing that looks at every event can undercut. Times are of the CPU, so that a busy machine
// does not count; everything runs on one thread, so a quiet one takes as long by the clock.
//
//   analyze_bench [EVENTS [FILE]]     a made-up training trace of so many events (default 10 million); FILE
//   is made
//                                     if it does not exist, and kept
#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "analyzer/analysis.h"
#include "db/meta.h"
#include "db/store.h"

namespace {

using namespace pitwall;
using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double cpuSeconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

long peakMb() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return use.ru_maxrss / 1024;
}

// Iterations of 40 operators, 50 kernels with their launches and a copy, on a worker, the main thread and two
// streams.
Status writeTrace(const std::string& path, std::int64_t events) {
  auto made = createTrace(path);
  if (!made.has_value()) return fail(made.error());
  auto& sink = *made.value();
  const auto process = sink.process({.pid = 1, .name = "bench", .command_line = "bench"});
  const auto worker =
      sink.track({TrackKind::thread, process, sink.thread({process, 2, "cpu worker 0"}), {}, "worker", ""});
  const auto host =
      sink.track({TrackKind::thread, process, sink.thread({process, 1, "main"}), {}, "main", ""});
  const auto device = sink.device({"gpu", 0, "bench", 1 << 30});
  const auto compute = sink.track({TrackKind::stream, process, {}, device, "stream 1", ""});
  const auto copies = sink.track({TrackKind::stream, process, {}, device, "stream 2", ""});
  sink.meta(meta::kProducer, "pitwall bench");
  std::vector<OperatorId> ops;
  for (int i = 0; i < 40; ++i) {
    OperatorFacts facts;
    facts.name = "Convolution";
    facts.layer = fmt::format("conv{}", i);
    facts.phase = i < 20 ? Phase::forward : Phase::backward;
    facts.flop = 1000000;
    ops.push_back(sink.operatorFacts(facts));
  }
  std::vector<StringId> kernels;
  for (int i = 0; i < 50; ++i) kernels.push_back(sink.string(fmt::format("sm90_xmma_gemm_{}", i)));
  const auto launch = sink.string("cudaLaunchKernel"), copy = sink.string("Memcpy HtoD (Pinned -> Device)");
  constexpr std::int64_t kPerIteration = 40 + 50 + 50 + 1;
  CorrelationId correlation = 0;
  std::vector<Event> a, b, c, d;
  std::vector<Dependency> dependencies;
  TimeNs now = 0;
  for (std::int64_t i = 0; i < events / kPerIteration; ++i) {
    sink.iteration({i, now, 64});
    for (int k = 0; k < 40; ++k) {
      const TimeNs start = now + k * 9000;
      a.push_back({.start_ns = start,
                   .dur_ns = 7000 + (i + k) % 700,
                   .pushed_ns = start - 3000,
                   .ready_ns = start - 1000,
                   .correlation = ++correlation,
                   .op = ops[static_cast<std::size_t>(k)],
                   .kind = EventKind::operatorRun});
      if (k > 0) dependencies.push_back({correlation - 1, correlation});
    }
    for (int k = 0; k < 50; ++k) {
      const TimeNs start = now + k * 7000;
      b.push_back({.start_ns = start,
                   .dur_ns = 3000,
                   .pushed_ns = start,
                   .ready_ns = start,
                   .correlation = ++correlation,
                   .name = launch,
                   .kind = EventKind::api});
      c.push_back({.start_ns = start + 5000,
                   .dur_ns = 4000 + (i * k) % 1900,
                   .pushed_ns = start,
                   .ready_ns = start,
                   .correlation = ++correlation,
                   .name = kernels[static_cast<std::size_t>(k)],
                   .kind = EventKind::kernel});
      dependencies.push_back({correlation - 1, correlation, DependencyKind::launch});
    }
    d.push_back({.start_ns = now,
                 .dur_ns = 20000,
                 .pushed_ns = now,
                 .ready_ns = now,
                 .value = 1 << 20,
                 .name = copy,
                 .kind = EventKind::copy});
    now += 370000;
    if (a.size() < 40000) continue;
    sink.events(worker, a), sink.events(host, b), sink.events(compute, c), sink.events(copies, d);
    sink.dependencies(dependencies);
    a.clear(), b.clear(), c.clear(), d.clear(), dependencies.clear();
  }
  sink.events(worker, a), sink.events(host, b), sink.events(compute, c), sink.events(copies, d);
  sink.dependencies(dependencies);
  return sink.finish();
}

// One pass over all columns of all events.
Result<double> scanSeconds(Trace& trace) {
  const double start = cpuSeconds();
  std::int64_t sum = 0;
  const auto tracks = trace.tracks();
  for (std::uint32_t i = 0; i < tracks.size(); ++i) {
    if (tracks[i].kind == TrackKind::counter) continue;
    auto status = trace.eventColumns({.track = TrackId{i + 1}}, [&sum](const EventSpans& events) {
      for (const auto span :
           {events.start_ns, events.dur_ns, events.pushed_ns, events.ready_ns, events.correlation,
            events.value, events.name, events.op, events.kernel, events.args, events.kind, events.depth})
        sum = std::accumulate(span.begin(), span.end(), sum);
      return true;
    });
    if (!status.has_value()) return fail(status.error());
  }
  const double seconds = cpuSeconds() - start;
  fmt::print("one sequential scan        {:8.3f} s  (sum of all columns {})\n", seconds, sum);
  return seconds;
}

int run(std::int64_t events, std::string path) {
  const bool passing = path.empty();  // nobody wants the file afterwards
  if (passing) path = (std::filesystem::temp_directory_path() / "pitwall-analyze-bench.pitwall").string();
  if (passing || !std::filesystem::exists(path)) {
    if (auto status = writeTrace(path, events); !status.has_value())
      return fmt::print(stderr, "{}\n", status.error().message), 1;
  }
  auto opened = Trace::open(path);
  if (!opened.has_value()) return fmt::print(stderr, "{}\n", opened.error().message), 1;
  const auto scan = scanSeconds(*opened.value());
  if (!scan.has_value()) return fmt::print(stderr, "{}\n", scan.error().message), 1;
  const long before_mb = peakMb();
  const auto start = Clock::now();
  const double cpu = cpuSeconds();
  auto report = analyzeTrace(*opened.value());
  if (!report.has_value()) return fmt::print(stderr, "{}\n", report.error().message), 1;
  const double seconds = secondsSince(start), cpu_seconds = cpuSeconds() - cpu;
  double rules = 0;
  auto timings = report.value().timings;
  for (const auto& [part, ns] : timings) {
    const double took = static_cast<double>(ns) * 1e-9;
    if (part.rfind("rule ", 0) == 0) rules += took;
    if (part.rfind("rule ", 0) != 0)
      fmt::print("{:<26} {:8.3f} s  {:6.2f} scans\n", part, took, took / scan.value());
  }
  std::sort(timings.begin(), timings.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  fmt::print("all rules                  {:8.3f} s:\n", rules);
  for (const auto& [part, ns] : timings) {
    if (part.rfind("rule ", 0) == 0)
      fmt::print("  {:<32} {:8.3f} ms\n", part.substr(5), static_cast<double>(ns) * 1e-6);
  }
  fmt::print(
      "everything                 {:8.3f} s  {:6.2f} scans, {:.3f} s by the clock, {:.0f} ns an event\n",
      cpu_seconds, cpu_seconds / scan.value(), seconds,
      cpu_seconds * 1e9 / static_cast<double>(std::max<std::int64_t>(1, events)));
  fmt::print("memory at most             {:8} MB; {} MB before the analysis\n", peakMb(), before_mb);
  if (passing) std::filesystem::remove(path);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t events = argc > 1 ? std::atoll(argv[1]) : 10'000'000;
  return run(std::max<std::int64_t>(events, 1000), argc > 2 ? argv[2] : "");
}
