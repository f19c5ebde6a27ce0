// Which operators may run together, and in which order the others run.
#include <atomic>
#include <numeric>
#include <thread>

#include "tests/runtime/engine/engine_fixture.h"

namespace pitwall::test::order_test {
namespace {

class Order : public testing::TestWithParam<EngineCase> {};

TEST_P(Order, WritersOfOneVariableRunAloneInProgramOrder) {
  Opened engine(GetParam());
  const Variable v = engine->newVariable();
  std::vector<int> order;  // unguarded on purpose
  for (int i = 0; i < 1000; ++i) engine.run({}, {v}, [&order, i] { order.push_back(i); });
  expectOk(engine->waitForVariable(v));
  std::vector<int> expected(1000);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

TEST_P(Order, ReadersSeeTheWriteBeforeThemAndNotTheOneAfter) {
  Opened engine(GetParam());
  const Variable v = engine->newVariable();
  int value = 0;
  std::atomic<int> wrong{0};
  for (int round = 1; round <= 200; ++round) {
    engine.run({}, {v}, [&value, round] { value = round; });
    for (int reader = 0; reader < 3; ++reader) {
      engine.run({v}, {}, [&value, &wrong, round] { wrong += value == round ? 0 : 1; });
    }
  }
  expectOk(engine->waitForAll());
  EXPECT_EQ(wrong, 0);
}

TEST_P(Order, VersionCountsCompletedWrites) {
  Opened engine(GetParam());
  const Variable v = engine->newVariable();
  for (int i = 0; i < 10; ++i) engine.run({v}, {}, [] {});
  expectOk(engine->waitForAll());
  EXPECT_EQ(engine->version(v), 0U);
  for (int i = 0; i < 10; ++i) engine.run({}, {v}, [] {});
  expectOk(engine->waitForVariable(v));
  EXPECT_EQ(engine->version(v), 10U);
}

TEST_P(Order, AVariableNamedTwiceCountsOnceAsWritten) {
  Opened engine(GetParam());
  const Variable a = engine->newVariable();
  const Variable b = engine->newVariable();
  int runs = 0;
  for (int i = 0; i < 20; ++i) engine.run({a, b, a, b}, {b, b}, [&runs] { ++runs; });
  expectOk(engine->waitForAll());
  EXPECT_EQ(runs, 20);
  EXPECT_EQ(engine->version(a), 0U);
  EXPECT_EQ(engine->version(b), 20U);
}

TEST_P(Order, AnOperatorMayUseAnyNumberOfVariables) {
  Opened engine(GetParam());
  std::vector<Variable> variables(300);
  for (Variable& v : variables) v = engine->newVariable();
  int runs = 0;
  for (const std::size_t count : {1U, 4U, 5U, 20U, 21U, 33U, 300U, 21U, 4U}) {
    engine->push({.run = [&runs](const RunContext&) -> Status { return ++runs, Status(); },
                  .reads = std::span(variables).last(count / 2),
                  .writes = std::span(variables).first(count)});
  }
  expectOk(engine->waitForAll());
  EXPECT_EQ(runs, 9);
  EXPECT_EQ(engine->version(variables[0]), 9U);
  EXPECT_EQ(engine->version(variables[299]), 1U);
}

TEST_P(Order, AnOperatorWithoutVariablesRuns) {
  Opened engine(GetParam());
  std::atomic<int> runs{0};
  for (int i = 0; i < 100; ++i) engine.run({}, {}, [&runs] { ++runs; });
  engine->push({.run = {}, .reads = {}, .writes = {}});  // nothing to do is fine
  expectOk(engine->waitForAll());
  EXPECT_EQ(runs, 100);
}

TEST_P(Order, WaitingForAnUnusedVariableReturns) {
  Opened engine(GetParam());
  expectOk(engine->waitForVariable(engine->newVariable()));
  expectOk(engine->waitForAll());
}

TEST_P(Order, AnOperatorMayPushOthers) {
  Opened engine(GetParam());
  const Variable v = engine->newVariable();
  std::vector<int> order;
  engine.run({}, {v}, [&] {
    engine.run({}, {v}, [&order] { order.push_back(2); });
    order.push_back(1);
  });
  expectOk(engine->waitForAll());
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST_P(Order, WhatAnOperatorHoldsEndsBeforeItsVariableIsDone) {
  Opened engine(GetParam());
  const Variable v = engine->newVariable();
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = held;
  engine.run({}, {v}, [held = std::move(held)] { EXPECT_EQ(*held, 1); });
  expectOk(engine->waitForVariable(v));
  EXPECT_TRUE(watch.expired());
}

TEST_P(Order, ABigCallableIsKept) {
  Opened engine(GetParam());
  const Variable v = engine->newVariable();
  std::array<int, 100> big{};
  big[99] = 7;
  int seen = 0;
  engine.run({}, {v}, [big, &seen] { seen = big[99]; });
  expectOk(engine->waitForVariable(v));
  EXPECT_EQ(seen, 7);
}

TEST_P(Order, DeletionRunsLastAndOnce) {
  Opened engine(GetParam());
  for (int round = 0; round < 50; ++round) {
    const Variable v = engine->newVariable();
    EXPECT_EQ(engine->version(v), 0U);
    std::atomic<int> finished{0};
    std::atomic<int> seen_at_deletion{-1};
    for (int i = 0; i < 5; ++i) engine.run({v}, {}, [&finished] { ++finished; });
    engine.run({}, {v}, [&finished] { ++finished; });
    for (int i = 0; i < 5; ++i) engine.run({v}, {}, [&finished] { ++finished; });
    engine->deleteVariable(v, [&](const RunContext&) -> Status {
      seen_at_deletion = finished.load();
      return {};
    });
    expectOk(engine->waitForAll());
    EXPECT_EQ(seen_at_deletion, 11);
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, Order, testing::ValuesIn(allCases()), caseName);

// --- with threads -------------------------------------------------------------------------------------

class ThreadedOrder : public testing::TestWithParam<EngineType> {};

TEST_P(ThreadedOrder, ReadersRunTogether) {
  Opened engine(EngineCase{GetParam(), 10});
  const Variable v = engine->newVariable();
  Gate gate;
  for (int i = 0; i < 10; ++i) engine.run({v}, {}, [&gate] { gate.pass(); });
  EXPECT_TRUE(gate.waitForArrivals(10));
  gate.open();
  expectOk(engine->waitForAll());
}

TEST_P(ThreadedOrder, IndependentOperatorsReadiedTogetherRunTogether) {
  Opened engine(EngineCase{GetParam(), 4});
  const Variable first = engine->newVariable();
  Gate start;
  Gate gate;
  engine.run({}, {first}, [&start] { start.pass(); });
  for (int i = 0; i < 4; ++i) engine.run({first}, {engine->newVariable()}, [&gate] { gate.pass(); });
  start.open();
  EXPECT_TRUE(gate.waitForArrivals(4));
  gate.open();
  expectOk(engine->waitForAll());
}

TEST_P(ThreadedOrder, WaitForVariableDoesNotWaitForReaders) {
  Opened engine(EngineCase{GetParam(), 2});
  const Variable v = engine->newVariable();
  Gate gate;
  engine.run({}, {v}, [] {});
  engine.run({v}, {}, [&gate] { gate.pass(); });
  expectOk(engine->waitForVariable(v));  // would hang otherwise
  EXPECT_TRUE(gate.waitForArrivals(1));
  gate.open();
  expectOk(engine->waitForAll());
}

TEST_P(ThreadedOrder, WaitForVariableWaitsForAWriterBehindAReader) {
  Opened engine(EngineCase{GetParam(), 2});
  const Variable v = engine->newVariable();
  Gate gate;
  bool written = false;
  engine.run({v}, {}, [&gate] { gate.pass(); });
  engine.run(
      {}, {v}, [&written] { written = true; }, OperatorClass::copyFromGpu);
  ASSERT_TRUE(gate.waitForArrivals(1));
  std::thread opener([&gate] { gate.open(); });
  expectOk(engine->waitForVariable(v));
  EXPECT_TRUE(written);
  opener.join();
}

INSTANTIATE_TEST_SUITE_P(Engines, ThreadedOrder,
                         testing::Values(EngineType::threaded, EngineType::threadedPerDevice),
                         [](const auto& one) { return std::string(toString(one.param)); });

}  // namespace
}  // namespace pitwall::test::order_test
