#include "tests/bench/analyze_traces.h"

#include <fmt/core.h>

#include <vector>

#include "db/meta.h"
#include "db/store.h"
#include "db/try.h"

namespace pitwall::bench {

namespace {

constexpr int kOperators = 40, kKernels = 50;  // of an iteration

// Iterations of a training on one GPU: operators of a worker, launches of the host, their kernels, and a copy.
class Training {
 public:
  explicit Training(TraceSink& sink) : sink_(sink) {
    const auto process = sink.process({.pid = 1, .name = "bench", .command_line = "bench"});
    const auto device = sink.device({"gpu", 0, "bench", 1 << 30});
    worker_.id =
        sink.track({TrackKind::thread, process, sink.thread({process, 2, "cpu worker 0"}), {}, "worker", ""});
    host_.id = sink.track({TrackKind::thread, process, sink.thread({process, 1, "main"}), {}, "main", ""});
    compute_.id = sink.track({TrackKind::stream, process, {}, device, "stream 1", ""});
    copies_.id = sink.track({TrackKind::stream, process, {}, device, "stream 2", ""});
    sink.meta(meta::kProducer, "pitwall bench");
    for (int i = 0; i < kOperators; ++i) {
      OperatorFacts facts;
      facts.name = "Convolution";
      facts.layer = fmt::format("conv{}", i);
      facts.phase = i < kOperators / 2 ? Phase::forward : Phase::backward;
      facts.flop = 1000000;
      operators_.push_back(sink.operatorFacts(facts));
    }
    for (int i = 0; i < kKernels; ++i) kernels_.push_back(sink.string(fmt::format("sm90_xmma_gemm_{}", i)));
    launch_ = sink.string("cudaLaunchKernel");
    copy_ = sink.string("Memcpy HtoD (Pinned -> Device)");
  }

  void iterate() {
    sink_.iteration({iteration_, now_, 64});
    addOperators();
    addKernels();
    copies_.events.push_back({.start_ns = now_,
                              .dur_ns = 20000,
                              .pushed_ns = now_,
                              .ready_ns = now_,
                              .value = 1 << 20,
                              .name = copy_,
                              .kind = EventKind::copy});
    now_ += 370000;
    ++iteration_;
    if (worker_.events.size() >= 40000) send();
  }

  void send() {
    for (Track* track : {&worker_, &host_, &compute_, &copies_}) {
      sink_.events(track->id, track->events);
      track->events.clear();
    }
    sink_.dependencies(dependencies_);
    dependencies_.clear();
  }

 private:
  struct Track {
    TrackId id;
    std::vector<Event> events;
  };

  void addOperators() {
    for (int k = 0; k < kOperators; ++k) {
      const TimeNs start = now_ + k * 9000;
      worker_.events.push_back({.start_ns = start,
                                .dur_ns = 7000 + (iteration_ + k) % 700,
                                .pushed_ns = start - 3000,
                                .ready_ns = start - 1000,
                                .correlation = ++correlation_,
                                .op = operators_[static_cast<std::size_t>(k)],
                                .kind = EventKind::operatorRun});
      if (k > 0) dependencies_.push_back({correlation_ - 1, correlation_});
    }
  }

  void addKernels() {
    for (int k = 0; k < kKernels; ++k) {
      const TimeNs start = now_ + k * 7000;
      host_.events.push_back({.start_ns = start,
                              .dur_ns = 3000,
                              .pushed_ns = start,
                              .ready_ns = start,
                              .correlation = ++correlation_,
                              .name = launch_,
                              .kind = EventKind::api});
      compute_.events.push_back({.start_ns = start + 5000,
                                 .dur_ns = 4000 + (iteration_ * k) % 1900,
                                 .pushed_ns = start,
                                 .ready_ns = start,
                                 .correlation = ++correlation_,
                                 .name = kernels_[static_cast<std::size_t>(k)],
                                 .kind = EventKind::kernel});
      dependencies_.push_back({correlation_ - 1, correlation_, DependencyKind::launch});
    }
  }

  TraceSink& sink_;
  Track worker_, host_, compute_, copies_;
  std::vector<OperatorId> operators_;
  std::vector<StringId> kernels_;
  StringId launch_, copy_;
  std::vector<Dependency> dependencies_;
  CorrelationId correlation_ = 0;
  TimeNs now_ = 0;
  std::int64_t iteration_ = 0;
};

}  // namespace

Status writeTraining(const std::string& path, std::int64_t events) {
  auto sink = PITWALL_TRY(createTrace(path));
  Training training(*sink);
  constexpr std::int64_t kPerIteration = kOperators + 2 * kKernels + 1;
  for (std::int64_t i = 0; i < events / kPerIteration; ++i) training.iterate();
  training.send();
  return sink->finish();
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
