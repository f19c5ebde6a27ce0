// Random operators that complete late, and the end of an engine right after them.
#include <algorithm>
#include <atomic>
#include <random>
#include <set>
#include <thread>

#include "tests/runtime/engine/completion_fixture.h"
#include "tests/support/memory_sink.h"

namespace pitwall::test::completion_stress_test {
namespace {

// Each operator once; those of one asynchronous track one after the other.
void expectTracks(const MemorySink& sink, std::size_t operators) {
  std::set<CorrelationId> correlations;
  for (std::uint32_t track = 1; track <= sink.tracks.size(); ++track) {
    std::vector<Event> events = sink.eventsOf(TrackId{track});
    std::sort(events.begin(), events.end(),
              [](const Event& x, const Event& y) { return x.start_ns < y.start_ns; });
    TimeNs end = 0;
    for (const Event& event : events) {
      if (event.kind != EventKind::operatorRun) continue;
      EXPECT_TRUE(correlations.insert(event.correlation).second);
      if (sink.tracks[track - 1].thread) continue;
      EXPECT_GE(event.start_ns, end) << sink.tracks[track - 1].name;
      end = event.start_ns + event.dur_ns;
    }
  }
  EXPECT_EQ(correlations.size(), operators);
  EXPECT_TRUE(sink.losses.empty());
}

class CompletionStress : public testing::TestWithParam<EngineType> {};

TEST_P(CompletionStress, RandomOperatorsOfSeveralThreads) {
  for (unsigned round = 0; round < 10; ++round) {
    Finisher finisher(1, 3);
    Opened engine(EngineCase{GetParam(), 3});
    auto owned = std::make_unique<MemorySink>();
    const MemorySink& sink = *owned;
    expectOk(engine.profiler.start(std::move(owned)));
    std::vector<Variable> variables(8);
    std::vector<std::uint64_t> counts(variables.size(), 0);  // ordered by the variables
    for (Variable& v : variables) v = engine->newVariable();
    std::vector<std::thread> pushers;
    for (unsigned t = 0; t < 3; ++t) {
      pushers.emplace_back([&, t] {
        std::mt19937 random(round * 10 + t);
        for (int i = 0; i < 100; ++i) {
          const std::size_t a = random() % 8, b = random() % 8;
          const auto count = [&counts, a]() -> Status {
            ++counts[a];
            return {};
          };
          if (random() % 2 == 0) {
            engine.run({variables[b]}, {variables[a]}, count);
            continue;
          }
          engine->push({.run = [&finisher, count](
                                   const RunContext&,
                                   Completion completion) { finisher.give(std::move(completion), count); },
                        .reads = {&variables[b], 1},
                        .writes = {&variables[a], 1}});
        }
      });
    }
    for (std::thread& pusher : pushers) pusher.join();
    expectOk(engine->waitForAll());
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < variables.size(); ++i) {
      EXPECT_EQ(engine->version(variables[i]), counts[i]);
      sum += counts[i];
    }
    EXPECT_EQ(sum, 300U);
    expectOk(engine.profiler.flush());
    expectTracks(sink, 300);
  }
}

// The engine may end as soon as a wait has returned, while the completing thread is on its way out.
TEST_P(CompletionStress, TheEngineEndsRightAfterTheWait) {
  Finisher finisher(1, 2);
  for (int i = 0; i < 100; ++i) {
    Opened engine(EngineCase{GetParam(), 1});
    const Variable v = engine->newVariable();
    engine->push(
        {.run = [&](const RunContext&, Completion completion) { finisher.give(std::move(completion)); },
         .writes = {&v, 1}});
    expectOk(i % 2 == 0 ? engine->waitForAll() : engine->waitForVariable(v));
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, CompletionStress,
                         testing::Values(EngineType::naive, EngineType::threaded,
                                         EngineType::threadedPerDevice),
                         [](const auto& one) { return std::string(toString(one.param)); });

}  // namespace
}  // namespace pitwall::test::completion_stress_test
