#include "tests/support/random_trace.h"

#include <algorithm>
#include <limits>
#include <random>
#include <span>
#include <tuple>

#include "db/check.h"

namespace pitwall::test {

namespace {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  std::int64_t between(std::int64_t least, std::int64_t greatest) {
    return std::uniform_int_distribution<std::int64_t>(least, greatest)(engine_);
  }
  std::int64_t any() { return static_cast<std::int64_t>(engine_()); }
  template <class T>
  std::uint32_t idOf(const std::vector<T>& rows) {
    return static_cast<std::uint32_t>(between(0, static_cast<std::int64_t>(rows.size())));
  }
  std::string word() {
    std::string text;
    for (std::int64_t n = between(0, 12); n > 0; --n) text += static_cast<char>('a' + between(0, 25));
    return text;
  }

 private:
  std::mt19937_64 engine_;
};

void makeDimensions(RandomTrace& trace, Dice& dice, const RandomTraceOptions& options) {
  for (int i = 0; i < 20; ++i) trace.strings.push_back("name " + std::to_string(i));
  trace.strings.push_back("Umläute, 'quotes' and \"more\"");
  for (int i = 0; i < 2; ++i)
    trace.processes.push_back({100 + i, dice.word(), "run --fast " + dice.word(), i});
  for (int i = 0; i < options.tracks; ++i)
    trace.threads.push_back({ProcessId{dice.idOf(trace.processes)}, 1000 + i, "worker " + std::to_string(i)});
  trace.devices.push_back({"cpu", 0, "Some CPU", 1 << 30});
  trace.devices.push_back({"gpu", 1, "Some GPU", std::int64_t{80} << 30});
  for (int i = 0; i < options.tracks; ++i) {
    const ThreadId thread{static_cast<std::uint32_t>(i + 1)};
    trace.tracks.push_back({TrackKind::thread, ProcessId{1}, thread, {}, "worker " + std::to_string(i), ""});
  }
  trace.tracks.push_back({TrackKind::stream, ProcessId{2}, {}, DeviceId{2}, "stream 7", ""});
  trace.tracks.push_back({TrackKind::counter, ProcessId{1}, {}, {}, "memory live: weights", "bytes"});
  trace.tracks.push_back({TrackKind::counter, ProcessId{1}, {}, {}, "queue", "items"});
  trace.tracks.push_back({TrackKind::counter, ProcessId{1}, ThreadId{1}, {}, "stack", kStackUnit});
  for (int i = 0; i < 30; ++i) {
    trace.facts.push_back({"Operator" + std::to_string(i), dice.word(), "2x3->4", "float32", "null",
                           dice.word(), static_cast<Phase>(dice.between(0, 4)), dice.between(0, 1 << 20), i,
                           2 * i});
  }
  for (std::int32_t i = 0; i < 9; ++i) {
    trace.kernels.push_back({{i + 1, i, 1},
                             {32 * i, 1, i},
                             i * 8,
                             i * 1024,
                             dice.between(0, 1 << 16),
                             i,
                             static_cast<double>(i) / 8,
                             i % 2 == 0 ? "registers" : ""});
  }
  for (int i = 0; i < 20; ++i)
    trace.frames.push_back(
        {"function" + std::to_string(i / 2), dice.word() + ".py", i, i % 3 == 0 ? "native" : "python"});
  for (std::uint32_t i = 0; i < 40; ++i)
    trace.stacks.push_back({StackId{i < 5 ? 0 : i / 2}, FrameId{i % 20 + 1}});
  trace.meta = {{"host.name", "here"}, {"trace.producer", "a test"}, {"host.name", "there"}};
  trace.settings = {{"OMP_NUM_THREADS", "4", SettingSource::environment},
                    {"MXNET_ENGINE_TYPE", "", SettingSource::byDefault},
                    {"OMP_NUM_THREADS", "8", SettingSource::program}};
  trace.tunables = {{"batch_size", 16, 16, 8, 512, SettingSource::program},
                    {"batch_size", 64, 16, 8, 512, SettingSource::environment}};
  for (int i = 0; i < 10; ++i) trace.iterations.push_back({i, i * 1000, 16});
  trace.losses = {{TrackId{1}, 5, 10, 77, "ring full"}, {{}, 0, 0, 1, "disk full"}};
}

Event makeEvent(RandomTrace& trace, Dice& dice, bool extreme) {
  Event event;
  event.kind = static_cast<EventKind>(dice.between(0, static_cast<int>(EventKind::communication)));
  event.start_ns = extreme ? dice.any() : dice.between(0, 1'000'000);
  event.dur_ns = extreme ? dice.any() : dice.between(0, 3000);
  event.pushed_ns = extreme ? dice.any() : event.start_ns - dice.between(0, 5000);
  event.ready_ns = extreme ? dice.any() : event.start_ns - dice.between(0, 500);
  event.correlation = static_cast<CorrelationId>(extreme ? dice.any() : dice.between(0, 300));
  event.value = extreme ? dice.any() : dice.between(-10, 10);
  event.name = StringId{dice.idOf(trace.strings)};
  event.op = OperatorId{dice.idOf(trace.facts)};
  event.kernel = KernelId{dice.idOf(trace.kernels)};
  event.args = StringId{dice.between(0, 3) == 0 ? dice.idOf(trace.strings) : 0};
  event.depth = static_cast<std::uint16_t>(dice.between(0, extreme ? 0xffff : 5));
  return event;
}

void makeRows(RandomTrace& trace, Dice& dice, const RandomTraceOptions& options) {
  const std::size_t event_tracks = trace.tracks.size() - 3;
  trace.events.resize(trace.tracks.size());
  trace.counters.resize(trace.tracks.size());
  for (std::size_t track = 0; track < event_tracks; ++track) {
    for (int i = 0; i < options.events_per_track; ++i)
      trace.events[track].push_back(makeEvent(trace, dice, options.extreme));
  }
  for (std::size_t track = event_tracks; track < trace.tracks.size(); ++track) {
    const bool whole = track == event_tracks;
    for (int i = 0; i < options.samples_per_counter; ++i) {
      const bool stacks = track + 1 == trace.tracks.size();
      const auto value = static_cast<double>(stacks ? dice.idOf(trace.stacks) : dice.between(-1000, 1000));
      trace.counters[track].push_back({dice.between(0, 1'000'000), whole || stacks ? value : value / 7});
    }
    if (options.extreme && track + 1 != trace.tracks.size()) {
      for (const double value : {-0.0, std::numeric_limits<double>::infinity(), 1e300, -5e-324})
        trace.counters[track].push_back({dice.any(), value});
    }
  }
  for (int i = 0; i < options.dependencies; ++i) {
    trace.dependencies.push_back(
        {static_cast<CorrelationId>(options.extreme ? dice.any() : dice.between(1, 300)),
         static_cast<CorrelationId>(options.extreme ? dice.any() : dice.between(1, 300)),
         static_cast<DependencyKind>(dice.between(0, static_cast<int>(DependencyKind::flow)))});
  }
}

template <class Row, class Put>
void inPortions(const std::vector<Row>& rows, std::size_t portion, Put put) {
  for (std::size_t at = 0; at < rows.size(); at += portion)
    put(std::span(rows).subspan(at, std::min(portion, rows.size() - at)));
}

}  // namespace

RandomTrace makeRandomTrace(const RandomTraceOptions& options) {
  RandomTrace trace;
  Dice dice(options.seed);
  makeDimensions(trace, dice, options);
  makeRows(trace, dice, options);
  return trace;
}

void feed(TraceSink& sink, const RandomTrace& trace) {
  for (const std::string& text : trace.strings) sink.string(text);
  for (const ProcessInfo& process : trace.processes) sink.process(process);
  for (const ThreadInfo& thread : trace.threads) sink.thread(thread);
  for (const DeviceInfo& device : trace.devices) sink.device(device);
  for (const TrackInfo& track : trace.tracks) sink.track(track);
  for (const OperatorFacts& facts : trace.facts) sink.operatorFacts(facts);
  for (const KernelFacts& facts : trace.kernels) sink.kernelFacts(facts);
  for (const FrameInfo& frame : trace.frames) sink.frame(frame);
  for (const StackInfo& stack : trace.stacks) sink.stack(stack);
  for (const auto& [key, value] : trace.meta) sink.meta(key, value);
  for (const SettingInEffect& setting : trace.settings) sink.setting(setting);
  for (const TunableInEffect& tunable : trace.tunables) sink.tunable(tunable);
  for (const IterationMark& mark : trace.iterations) sink.iteration(mark);
  for (const Loss& loss : trace.losses) sink.loss(loss);
  for (std::size_t i = 0; i < trace.tracks.size(); ++i) {
    const TrackId track{static_cast<std::uint32_t>(i + 1)};
    inPortions(trace.events[i], 61, [&](std::span<const Event> events) { sink.events(track, events); });
    const Status flushed = sink.flush();
    PITWALL_CHECK(flushed.has_value(), "%s", flushed.error().message.c_str());
    inPortions(trace.counters[i], 17,
               [&](std::span<const CounterSample> samples) { sink.counters(track, samples); });
  }
  inPortions(trace.dependencies, 33, [&](std::span<const Dependency> rows) { sink.dependencies(rows); });
}

bool same(const Event& a, const Event& b) {
  const auto tie = [](const Event& e) {
    return std::tie(e.start_ns, e.dur_ns, e.pushed_ns, e.ready_ns, e.correlation, e.value, e.name, e.op,
                    e.kernel, e.args, e.kind, e.depth);
  };
  return tie(a) == tie(b);
}

bool same(const Dependency& a, const Dependency& b) {
  return std::tie(a.source, a.target, a.kind) == std::tie(b.source, b.target, b.kind);
}

std::string describe(const Event& e) {
  std::string text = toString(e.kind);
  for (const std::int64_t number :
       {e.start_ns, e.dur_ns, e.pushed_ns, e.ready_ns, static_cast<std::int64_t>(e.correlation), e.value,
        std::int64_t{e.name.value}, std::int64_t{e.op.value}, std::int64_t{e.kernel.value},
        std::int64_t{e.args.value}, std::int64_t{e.depth}})
    text += ' ' + std::to_string(number);
  return text;
}

}  // namespace pitwall::test
