#include "tests/bench/analyze_traces.h"

#include <fmt/core.h>

#include <vector>

#include "db/meta.h"
#include "db/store.h"
#include "db/try.h"

namespace pitwall::bench {

Status writeTraining(const std::string& path, std::int64_t events) {
  auto made = PITWALL_TRY(createTrace(path));
  auto& sink = *made;
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

Status writeAlike(const std::string& path, std::int64_t events) {
  auto made = PITWALL_TRY(createTrace(path));
  auto& sink = *made;
  const auto process = sink.process({.pid = 1, .name = "bench", .command_line = "bench"});
  const auto host =
      sink.track({TrackKind::thread, process, sink.thread({process, 1, "main"}), {}, "main", ""});
  sink.meta(meta::kProducer, "pitwall bench");
  OperatorFacts facts;
  facts.name = "convolution";
  const auto op = sink.operatorFacts(facts);
  std::vector<Event> some;
  TimeNs now = 0;
  for (std::int64_t i = 0; i < events; ++i) {
    const TimeNs length = 5000 + (i * 7919) % 600;
    some.push_back({.start_ns = now,
                    .dur_ns = length,
                    .pushed_ns = now,
                    .ready_ns = now,
                    .op = op,
                    .kind = EventKind::operatorRun});
    now += length + 200;
    if (some.size() < 40000) continue;
    sink.events(host, some);
    some.clear();
  }
  sink.events(host, some);
  return sink.finish();
}

}  // namespace pitwall::bench
