// What is recorded of operators that complete on another thread.
#include <algorithm>
#include <map>
#include <set>
#include <thread>

#include "tests/runtime/engine/completion_fixture.h"
#include "tests/support/memory_sink.h"

namespace pitwall::test::asynchronous_recording_test {
namespace {

constexpr char kOneAtATime[] = "the naive engine waits for each operator inside push()";

class AsynchronousRecording : public testing::TestWithParam<EngineCase> {
 protected:
  AsynchronousRecording() : engine(GetParam()) { start(); }
  ~AsynchronousRecording() override {
    expectOk(engine.profiler.stop());
    Profiler::useClock(RecorderClock::automatic);
  }
  bool isNaive() const { return GetParam().type == EngineType::naive; }

  void start() {
    expectOk(engine.profiler.stop());
    Profiler::useClock(RecorderClock::monotonic);  // ticks are ns
    auto owned = std::make_unique<MemorySink>();
    sink = owned.get();
    expectOk(engine.profiler.start(std::move(owned)));
  }
  // Pushes an operator that `start(Completion)` starts.
  template <class Start>
  void push(const std::string& name, std::initializer_list<Variable> reads,
            std::initializer_list<Variable> writes, Start start, Device device = cpu(1)) {
    OperatorFacts facts;
    facts.name = name;
    engine->push(
        {.run = [start = std::move(start)](const RunContext&,
                                           Completion completion) mutable { start(std::move(completion)); },
         .reads = reads,
         .writes = writes,
         .facts = engine.profiler.operatorFacts(facts),
         .device = device});
  }
  struct Seen {
    Event event;
    TrackInfo track;
    TimeNs end() const { return event.start_ns + event.dur_ns; }
  };
  // Operators by name; each was recorded once.
  std::map<std::string, Seen> operators() {
    expectOk(engine.profiler.flush());
    std::map<std::string, Seen> found;
    for (const auto& [track, event] : sink->all_events) {
      if (event.kind != EventKind::operatorRun) continue;
      const bool is_new =
          found.emplace(sink->text(event.name), Seen{event, sink->tracks.at(track.value - 1)}).second;
      EXPECT_TRUE(is_new) << sink->text(event.name) << " is recorded twice";
    }
    return found;
  }
  // Another thread may complete an operator before its function has returned. It is on the track of its thread
  // then, which may have a device too: a worker's.
  static bool ranOnItsThread(const Seen& seen) { return static_cast<bool>(seen.track.thread); }
  void expectAsynchronous(const Seen& seen, const std::string& name, const std::string& device) {
    EXPECT_EQ(seen.track.name, name);
    EXPECT_EQ(seen.track.kind, TrackKind::thread);
    EXPECT_FALSE(seen.track.thread);
    ASSERT_TRUE(seen.track.device);
    const DeviceInfo& info = sink->devices.at(seen.track.device.value - 1);
    EXPECT_EQ(info.kind + "/" + std::to_string(info.index), device);
  }
  bool depends(const Event& on, const Event& of) const {
    return std::any_of(
        sink->all_dependencies.begin(), sink->all_dependencies.end(),
        [&](const Dependency& d) { return d.source == on.correlation && d.target == of.correlation; });
  }

  Opened engine;
  MemorySink* sink = nullptr;
};

TEST_P(AsynchronousRecording, SeveralAtOnceAreOnTracksOfTheirDevice) {
  if (isNaive()) GTEST_SKIP() << kOneAtATime;
  constexpr std::size_t kOperators = 6;
  std::vector<Ticks> began(kOperators), completed(kOperators);
  const Ticks before_all = Profiler::now();
  {
    Finisher finisher(kOperators);  // the last first
    for (std::size_t i = 0; i < kOperators; ++i) {
      const Variable v = engine->newVariable();
      push("receive " + std::to_string(i), {}, {v}, [&, i](Completion completion) {
        began[i] = Profiler::now();
        finisher.give(std::move(completion), [&completed, i]() -> Status {
          completed[i] = Profiler::now();
          return {};
        });
      });
    }
    expectOk(engine->waitForAll());
  }
  const auto all = static_cast<TimeNs>(Profiler::now() - before_all);
  const auto seen = operators();
  ASSERT_EQ(seen.size(), kOperators);
  std::set<std::string> names;
  for (std::size_t i = 0; i < kOperators; ++i) {
    const Seen& one = seen.at("receive " + std::to_string(i));
    names.insert(one.track.name);
    expectAsynchronous(one, one.track.name, "cpu/1");
    EXPECT_EQ(sink->text(one.event.args), R"({"device":"cpu/1"})");
    EXPECT_EQ(one.event.depth, 0);
    EXPECT_GE(one.event.dur_ns, static_cast<TimeNs>(completed[i] - began[i]));
    EXPECT_LE(one.event.dur_ns, all);
    EXPECT_LE(one.event.pushed_ns, one.event.ready_ns);
    EXPECT_LE(one.event.ready_ns, one.event.start_ns);
    for (std::size_t k = 0; k < i; ++k) {
      const Seen& before = seen.at("receive " + std::to_string(k));
      // Workers run them side by side, so that they need not arrive in the order of the pushes.
      EXPECT_EQ(one.end() < before.end(), completed[i] < completed[k]) << "as they were completed";
    }
  }
  EXPECT_EQ(names.size(), kOperators) << "all were open at once";
  EXPECT_TRUE(names.contains("cpu 1 asynchronous"));
  EXPECT_TRUE(names.contains("cpu 1 asynchronous 6"));
}

TEST_P(AsynchronousRecording, OneTrackIsEnoughForOneAfterTheOther) {
  Finisher finisher;
  const Variable v = engine->newVariable();
  for (int i = 0; i < 40; ++i)
    push("receive " + std::to_string(i), {}, {v},
         [&](Completion completion) { finisher.give(std::move(completion)); });
  expectOk(engine->waitForAll());
  const auto seen = operators();
  ASSERT_EQ(seen.size(), 40U);
  int asynchronous = 0;
  for (int i = 0; i < 40; ++i) {
    const Seen& one = seen.at("receive " + std::to_string(i));
    if (!ranOnItsThread(one)) {
      ++asynchronous;
      expectAsynchronous(one, "cpu 1 asynchronous", "cpu/1");
    }
    if (i == 0) continue;
    const Seen& before = seen.at("receive " + std::to_string(i - 1));
    EXPECT_GE(one.event.start_ns, before.end());
    EXPECT_TRUE(depends(before.event, one.event));
  }
  EXPECT_GT(asynchronous, 0);
}

// An operator that has completed when its function returns has run on that thread like any other.
TEST_P(AsynchronousRecording, WhatCompletesWithinItsFunctionIsOnTheThread) {
  const Variable a = engine->newVariable(), b = engine->newVariable();
  push("at once", {}, {a}, [](Completion completion) { completion({}); });
  push("by another thread at once", {a}, {a},
       [](Completion completion) { std::thread([&completion] { completion({}); }).join(); });
  push("never", {a}, {b}, [](Completion) {});
  push("skipped", {b}, {b}, [](Completion) { ADD_FAILURE(); });
  expectError(engine->waitForVariable(b), "never completed");
  push("throws", {}, {a}, [](Completion) { throw std::runtime_error("no route"); });
  expectError(engine->waitForAll(), "no route");
  const auto seen = operators();
  ASSERT_EQ(seen.size(), 5U);
  for (const auto& [name, one] : seen) {
    EXPECT_TRUE(ranOnItsThread(one)) << name;
    EXPECT_EQ(one.track.name.find("asynchronous"), std::string::npos) << name;
  }
}

TEST_P(AsynchronousRecording, FailuresAreRecordedOnce) {
  Finisher finisher;
  const Variable a = engine->newVariable(), b = engine->newVariable(), c = engine->newVariable();
  push("fails", {}, {a}, [&](Completion completion) {
    finisher.give(std::move(completion), [] { return bad("the peer is gone"); });
  });
  expectError(engine->waitForVariable(a), "the peer is gone");
  Gate returned;
  if (isNaive()) returned.open();  // it waits inside push()
  std::thread other;
  push("dropped", {}, {b}, [&](Completion completion) {
    other = std::thread([kept = std::move(completion), &returned]() mutable {
      returned.pass();
      Completion(std::move(kept));
    });
  });
  ASSERT_TRUE(returned.waitForArrivals(1));
  returned.open();
  expectError(engine->waitForVariable(b), "never completed");
  other.join();
  push("throws when given away", {}, {c}, [&](Completion completion) {
    finisher.give(std::move(completion));
    throw std::runtime_error("no route");
  });
  expectError(engine->waitForAll(), "no route");
  const auto seen = operators();
  ASSERT_EQ(seen.size(), 3U);
  const Seen& fails = seen.at("fails");
  if (!ranOnItsThread(fails)) expectAsynchronous(fails, "cpu 1 asynchronous", "cpu/1");
}

TEST_P(AsynchronousRecording, EachDeviceHasItsTracks) {
  Finisher finisher;
  const std::pair<Device, std::string> devices[] = {{cpu(0), "cpu 0"}, {cpu(3), "cpu 3"}, {gpu(1), "gpu 1"}};
  constexpr int kOperators = 20;  // one after the other
  for (int i = 0; i < kOperators; ++i) {
    for (const auto& [device, name] : devices)
      push(
          name + " " + std::to_string(i), {}, {},
          [&](Completion completion) { finisher.give(std::move(completion)); }, device);
    expectOk(engine->waitForAll());
  }
  const auto seen = operators();
  ASSERT_EQ(seen.size(), 3U * kOperators);
  for (const auto& [device, name] : devices) {
    int asynchronous = 0;
    for (int i = 0; i < kOperators; ++i) {
      const auto& one = seen.at(name + " " + std::to_string(i));
      if (ranOnItsThread(one)) continue;
      ++asynchronous;
      expectAsynchronous(one, name + " asynchronous", traceName(device));
    }
    EXPECT_GT(asynchronous, 0) << name;
  }
}

TEST_P(AsynchronousRecording, OfVeryManyAtOnceNoneIsLost) {
  if (isNaive()) GTEST_SKIP() << kOneAtATime;
  constexpr std::size_t kOperators = 300;
  {
    Finisher finisher(kOperators, 2);
    for (std::size_t i = 0; i < kOperators; ++i)
      push("receive " + std::to_string(i), {}, {},
           [&](Completion completion) { finisher.give(std::move(completion)); });
    expectOk(engine->waitForAll());
  }
  std::set<std::string> tracks;
  std::size_t on_threads = 0;
  const auto seen = operators();
  EXPECT_EQ(seen.size(), kOperators);
  for (const auto& [name, one] : seen) {
    if (ranOnItsThread(one)) {
      ++on_threads;
    } else {
      tracks.insert(one.track.name);
    }
  }
  // An operator that completes before its function has returned is on its thread: each worker may be in such a
  // function when the last operator lets all complete.
  constexpr std::size_t kMostWorkers = 16;
  EXPECT_EQ(tracks.size(), kOperators - on_threads);
  EXPECT_GE(on_threads, kOperators - 256);
  EXPECT_LE(on_threads, kOperators - 256 + kMostWorkers);
  EXPECT_TRUE(sink->losses.empty());
}

TEST_P(AsynchronousRecording, ARecordingMayEndWhileOneIsOpen) {
  if (isNaive()) GTEST_SKIP() << kOneAtATime;
  Gate given;
  Completion kept;
  push("open", {}, {}, [&](Completion completion) {
    kept = std::move(completion);
    given.open();
    given.pass();
  });
  engine->setBulkSize(0);
  ASSERT_TRUE(given.waitForArrivals(1));
  expectOk(engine.profiler.stop());
  kept({});
  expectOk(engine->waitForAll());
  start();
  Finisher finisher;
  push("next", {}, {}, [&](Completion completion) { finisher.give(std::move(completion)); });
  expectOk(engine->waitForAll());
  const auto seen = operators();
  ASSERT_EQ(seen.size(), 1U);
  const Seen& next = seen.at("next");
  if (!ranOnItsThread(next)) expectAsynchronous(next, "cpu 1 asynchronous", "cpu/1");
}

INSTANTIATE_TEST_SUITE_P(Engines, AsynchronousRecording,
                         testing::Values(EngineCase{EngineType::naive, 1, 0},
                                         EngineCase{EngineType::threaded, 2, 15},
                                         EngineCase{EngineType::threadedPerDevice, 1, 0},
                                         EngineCase{EngineType::threadedPerDevice, 2, 15}),
                         caseName);

}  // namespace
}  // namespace pitwall::test::asynchronous_recording_test
