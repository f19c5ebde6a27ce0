// The engine's events while it is recorded, and a check that recording changes nothing.
#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>

#include "runtime/profiler/cupti/operator_scope.h"
#include "tests/runtime/engine/engine_fixture.h"
#include "tests/support/memory_sink.h"

namespace pitwall::test::recording_test {
namespace {

// The profiler destroys its sink: this one keeps its content.
class KeptSink : public MemorySink {
 public:
  explicit KeptSink(MemorySink& kept) : kept_(kept) {}
  ~KeptSink() override { kept_ = static_cast<const MemorySink&>(*this); }

 private:
  MemorySink& kept_;
};

struct Recording {
  std::unique_ptr<MemorySink> sink = std::make_unique<MemorySink>();
  std::vector<Event> of(EventKind kind) const {
    std::vector<Event> events;
    for (const auto& [track, event] : sink->all_events) {
      if (event.kind == kind) events.push_back(event);
    }
    std::sort(events.begin(), events.end(),
              [](const Event& a, const Event& b) { return a.start_ns < b.start_ns; });
    return events;
  }
};

class Recorded : public testing::TestWithParam<EngineCase> {
 protected:
  Recorded() : engine(GetParam()) {}
  void startRecording() { expectOk(engine.profiler.start(std::make_unique<KeptSink>(*recording.sink))); }
  void stopRecording() { expectOk(engine.profiler.stop()); }
  OperatorId named(const char* name) {
    OperatorFacts facts;
    facts.name = name;
    return engine.profiler.operatorFacts(facts);
  }
  void push(const char* name, std::initializer_list<Variable> reads, std::initializer_list<Variable> writes) {
    engine->push({.run = [](const RunContext&) -> Status { return {}; },
                  .reads = reads,
                  .writes = writes,
                  .facts = named(name)});
  }
  // Operator events by the name of their facts.
  std::map<std::string, Event> operators() const {
    std::map<std::string, Event> found;
    for (const Event& event : recording.of(EventKind::operatorRun)) {
      found[recording.sink->facts.at(event.op.value - 1).name] = event;
    }
    return found;
  }

  Recording recording;  // outlives the profiler
  Opened engine;
};

TEST_P(Recorded, EachOperatorHasFourTimesInOrderAndItsOwnCorrelation) {
  startRecording();
  const Variable a = engine->newVariable();
  const Variable b = engine->newVariable();
  constexpr std::size_t kOperators = 100;
  for (std::size_t i = 0; i < kOperators; ++i) push("step", {a}, {i % 2 == 0 ? a : b});
  expectOk(engine->waitForAll());
  stopRecording();
  const std::vector<Event> events = recording.of(EventKind::operatorRun);
  ASSERT_EQ(events.size(), kOperators);
  std::set<CorrelationId> correlations;
  for (const Event& event : events) {
    EXPECT_LE(event.pushed_ns, event.ready_ns);
    EXPECT_LE(event.ready_ns, event.start_ns);
    EXPECT_GE(event.dur_ns, 0);
    EXPECT_NE(event.correlation, 0U);
    correlations.insert(event.correlation);
    EXPECT_EQ(recording.sink->facts.at(event.op.value - 1).name, "step");
  }
  EXPECT_EQ(correlations.size(), kOperators);
  EXPECT_TRUE(recording.sink->losses.empty());
}

// The recorder of launches is called for each operator, on its thread, with its correlation.
namespace launches {
std::mutex mutex;
std::vector<CorrelationId> pushed;
thread_local int open = 0;
std::atomic<int> unbalanced{0};
constexpr cupti::OperatorHooks kHooks{[](CorrelationId correlation) noexcept {
                                        if (++open != 1) ++unbalanced;
                                        const std::lock_guard guard(mutex);
                                        pushed.push_back(correlation);
                                        return true;
                                      },
                                      []() noexcept {
                                        if (--open != 0) ++unbalanced;
                                      }};
}  // namespace launches

TEST_P(Recorded, WhatOperatorsLaunchIsJoinedToThem) {
  launches::pushed.clear();
  cupti::g_operator_hooks = &launches::kHooks;
  const Variable a = engine->newVariable();
  push("unrecorded", {}, {a});
  expectOk(engine->waitForAll());
  startRecording();
  for (int i = 0; i < 40; ++i) push("launching", {}, {a});
  expectOk(engine->waitForAll());
  stopRecording();
  cupti::g_operator_hooks = nullptr;
  std::set<CorrelationId> recorded;
  for (const Event& event : recording.of(EventKind::operatorRun)) recorded.insert(event.correlation);
  EXPECT_EQ(recorded.size(), 40U);
  EXPECT_EQ(launches::pushed.size(), 40U);
  EXPECT_EQ(std::set<CorrelationId>(launches::pushed.begin(), launches::pushed.end()), recorded);
  EXPECT_EQ(launches::unbalanced, 0);
}

TEST_P(Recorded, OnlyOperatorsOfAGpuAreAnnouncedAndOnlyWhileRecording) {
  std::atomic<int> announced{0};
  EngineOptions options = optionsOf(GetParam());
  options.before_gpu_operator = [&announced] { ++announced; };
  Opened own(options);
  own->setBulkSize(GetParam().bulk);
  const auto runBoth = [&] {
    own.run({}, {}, [] {}, OperatorClass::normal, 0, {DeviceKind::gpu, 0});
    own.run({}, {}, [] {}, OperatorClass::normal, 0, {DeviceKind::cpu, 0});
    expectOk(own->waitForAll());
  };
  runBoth();
  EXPECT_EQ(announced, 0);
  expectOk(own.profiler.start(std::make_unique<MemorySink>()));
  runBoth();
  EXPECT_EQ(announced, 1);
  expectOk(own.profiler.stop());
}

TEST_P(Recorded, DependenciesAreThoseOfTheProgram) {
  startRecording();
  const Variable x = engine->newVariable();
  const Variable y = engine->newVariable();
  push("write x", {}, {x});
  push("read x once", {x}, {y});
  push("read x again", {x}, {});
  push("rewrite x", {}, {x});
  push("update x", {x, y}, {x});
  push("nothing", {}, {});
  expectOk(engine->waitForAll());
  stopRecording();
  const std::map<std::string, Event> events = operators();
  ASSERT_EQ(events.size(), 6U);
  using Edge = std::tuple<std::string, std::string, DependencyKind>;
  std::map<CorrelationId, std::string> names;
  for (const auto& [name, event] : events) names[event.correlation] = name;
  std::set<Edge> edges;
  for (const Dependency& edge : recording.sink->all_dependencies) {
    edges.insert({names[edge.source], names[edge.target], edge.kind});
  }
  using enum DependencyKind;
  EXPECT_EQ(edges, (std::set<Edge>{{"write x", "read x once", readAfterWrite},
                                   {"write x", "read x again", readAfterWrite},
                                   {"write x", "rewrite x", writeAfterWrite},
                                   {"read x once", "rewrite x", writeAfterRead},
                                   {"read x again", "rewrite x", writeAfterRead},
                                   {"rewrite x", "update x", readAfterWrite},
                                   {"read x once", "update x", readAfterWrite}}));
  // No operator starts before one that it depends on has ended.
  for (const auto& [source, target, kind] : edges) {
    const Event& first = events.at(source);
    EXPECT_LE(first.start_ns + first.dur_ns, events.at(target).start_ns + 1000) << source << " -> " << target;
  }
}

TEST_P(Recorded, SkippedOperatorsAreReportedToo) {
  startRecording();
  const Variable v = engine->newVariable();
  engine->push({.run = [](const RunContext&) -> Status { return fail(ErrorCode::io, "broken"); },
                .writes = {&v, 1},
                .facts = named("fails")});
  push("skipped", {v}, {v});
  expectError(engine->waitForAll(), "broken");
  stopRecording();
  EXPECT_EQ(operators().size(), 2U);
}

TEST_P(Recorded, RecordingMayStartAndStopAtAnyTime) {
  const Variable v = engine->newVariable();
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 50; ++i) push("step", {}, {v});
    startRecording();
    for (int i = 0; i < 50; ++i) push("step", {v}, {});
    stopRecording();
    for (const Event& event : recording.of(EventKind::operatorRun)) {
      EXPECT_LE(event.pushed_ns, event.ready_ns);
      EXPECT_LE(event.ready_ns, event.start_ns);
    }
  }
  expectOk(engine->waitForAll());
}

INSTANTIATE_TEST_SUITE_P(Engines, Recorded, testing::ValuesIn(allCases()), caseName);

using RecordedBulk = Recorded;

TEST_P(RecordedBulk, OneSpanEnclosesTheOperatorsOfASegment) {
  startRecording();
  const Variable v = engine->newVariable();
  {
    const BulkScope bulk(*engine.engine, 5);
    for (int i = 0; i < 10; ++i) push("step", {}, {v});
  }
  expectOk(engine->waitForAll());
  stopRecording();
  const std::vector<Event> bulks = recording.of(EventKind::bulk);
  const std::vector<Event> events = recording.of(EventKind::operatorRun);
  ASSERT_EQ(bulks.size(), 2U);
  ASSERT_EQ(events.size(), 10U);
  std::set<TimeNs> pushed;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event& around = bulks[i / 5];
    EXPECT_EQ(around.value, 5);
    EXPECT_LE(around.start_ns, events[i].start_ns);
    EXPECT_GE(around.start_ns + around.dur_ns, events[i].start_ns + events[i].dur_ns);
    EXPECT_EQ(events[i].depth, around.depth + 1);
    EXPECT_EQ(events[i].ready_ns, events[i / 5 * 5].ready_ns);  // the segment is ready as a whole
    if (i > 0) {
      EXPECT_GE(events[i].pushed_ns, events[i - 1].pushed_ns);
    }
  }
  EXPECT_EQ(recording.sink->all_dependencies.size(), 9U);  // also inside the segments
}

TEST_P(RecordedBulk, WaitsThatBlockAreSpans) {
  startRecording();
  const Variable v = engine->newVariable();
  Gate gate;
  engine->push({.run = [&gate](const RunContext&) -> Status { return gate.pass(), Status(); },
                .writes = {&v, 1},
                .facts = named("held")});
  ASSERT_TRUE(gate.waitForArrivals(1));
  std::thread opener([&gate] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    gate.open();
  });
  expectOk(engine->waitForVariable(v));
  opener.join();
  expectOk(engine->waitForVariable(v));  // returns at once: no span
  stopRecording();
  const std::vector<Event> waits = recording.of(EventKind::wait);
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_EQ(static_cast<CorrelationId>(waits[0].value), operators().at("held").correlation);
}

INSTANTIATE_TEST_SUITE_P(Engines, RecordedBulk,
                         testing::Values(EngineCase{EngineType::threaded, 1},
                                         EngineCase{EngineType::threadedPerDevice, 1}),
                         caseName);

// --- recording must not change the program -------------------------------------------------------------

struct Observed {
  std::vector<int> order;
  std::vector<std::uint64_t> segment;  // the version that an operator saw: equal within a segment
  std::vector<bool> is_bulk;
  friend bool operator==(const Observed&, const Observed&) = default;
};

Observed observe(const EngineCase& which, bool recording) {
  Opened engine(which);
  if (recording) expectOk(engine.profiler.start(std::make_unique<MemorySink>()));
  const Variable held = engine->newVariable();
  const Variable counter = engine->newVariable();
  Gate gate;
  Observed observed;
  if (which.type != EngineType::naive) engine.run({}, {held}, [&gate] { gate.pass(); });
  std::vector<Variable> variables(5);
  for (Variable& v : variables) v = engine->newVariable();
  for (int i = 0; i < 200; ++i) {
    const OperatorClass operator_class = i % 17 == 0 ? OperatorClass::noSkip : OperatorClass::normal;
    const auto index = static_cast<std::size_t>(i);
    const Variable reads[] = {variables[index % 5], variables[index * 7 % 5]};
    const Variable writes[] = {variables[index * 3 % 5]};
    const Variable counted[] = {writes[0], counter};
    engine->push(
        {.run = [&observed, &engine, counter, i](const RunContext& context) -> Status {
           observed.order.push_back(i);
           observed.segment.push_back(engine->version(counter));
           observed.is_bulk.push_back(context.is_bulk);
           return {};
         },
         .reads = reads,
         .writes = i % 5 == 0 ? std::span<const Variable>(writes) : std::span<const Variable>(counted),
         .operator_class = operator_class});
  }
  gate.open();
  expectOk(engine->waitForAll());
  if (recording) expectOk(engine.profiler.stop());
  return observed;
}

class Unchanged : public testing::TestWithParam<EngineCase> {};

TEST_P(Unchanged, OrderAndSegmentsAreTheSameWithRecordingOnAndOff) {
  const Observed off = observe(GetParam(), false);
  EXPECT_EQ(off.order.size(), 200U);
  EXPECT_EQ(off, observe(GetParam(), true));
}

INSTANTIATE_TEST_SUITE_P(Engines, Unchanged,
                         testing::Values(EngineCase{EngineType::naive, 1, 0},
                                         EngineCase{EngineType::naive, 1, 15},
                                         EngineCase{EngineType::threadedPerDevice, 1, 0},
                                         EngineCase{EngineType::threadedPerDevice, 1, 15},
                                         EngineCase{EngineType::threaded, 1, 0},
                                         EngineCase{EngineType::threaded, 1, 15}),
                         caseName);

}  // namespace
}  // namespace pitwall::test::recording_test
