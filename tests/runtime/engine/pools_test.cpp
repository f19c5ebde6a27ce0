// Which threads run an operator, and in which order a pool takes them.
#include <atomic>
#include <set>
#include <thread>

#include "runtime/engine/ready_queue.h"
#include "tests/runtime/engine/engine_fixture.h"

namespace pitwall::test::pools_test {
namespace {

EngineOptions perDevice() { return EngineOptions{}; }

std::thread::id threadOf(Opened& engine, OperatorClass operator_class, Device device) {
  std::thread::id id;
  engine.run(
      {}, {}, [&id] { id = std::this_thread::get_id(); }, operator_class, 0, device);
  expectOk(engine->waitForAll());
  return id;
}

TEST(Pools, EachDeviceAndClassOfWorkHasItsThreads) {
  EngineOptions options;
  options.cpu_priority_workers = options.gpu_workers = options.gpu_copy_workers = 1;
  Opened engine(options);
  const Device cpu0{DeviceKind::cpu, 0};
  const Device cpu1{DeviceKind::cpu, 1};
  const Device gpu0{DeviceKind::gpu, 0};
  const Device gpu1{DeviceKind::gpu, 1};
  const auto on = [&engine](OperatorClass c, Device d) { return threadOf(engine, c, d); };
  using enum OperatorClass;
  EXPECT_EQ(on(normal, cpu0), on(copyToGpu, cpu0));
  EXPECT_EQ(on(normal, cpu0), on(noSkip, cpu0));
  EXPECT_EQ(on(prioritized, cpu0), on(prioritized, cpu1));
  EXPECT_EQ(on(copyFromGpu, gpu0), on(copyToGpu, gpu0));
  const std::set<std::thread::id> distinct = {
      std::this_thread::get_id(), on(normal, cpu0), on(normal, cpu1),
      on(prioritized, cpu0),      on(normal, gpu0), on(prioritized, gpu0),
      on(copyToGpu, gpu0),        on(normal, gpu1), on(copyToGpu, gpu1)};
  EXPECT_EQ(distinct.size(), 9U);
}

TEST(Pools, ThePooledEngineHasOneForWorkAndOneForCopies) {
  EngineOptions options;
  options.type = EngineType::threaded;
  options.pooled_workers = 1;
  Opened engine(options);
  const auto normal = threadOf(engine, OperatorClass::normal, {});
  EXPECT_EQ(normal, threadOf(engine, OperatorClass::prioritized, {DeviceKind::gpu, 3}));
  const auto copy = threadOf(engine, OperatorClass::copyToGpu, {});
  EXPECT_NE(normal, copy);
  EXPECT_EQ(copy, threadOf(engine, OperatorClass::copyFromGpu, {DeviceKind::gpu, 1}));
}

TEST(Pools, ReadyInlineOperatorsRunOnThePusherAndOthersOnAWorker) {
  for (const EngineType type : {EngineType::threaded, EngineType::threadedPerDevice}) {
    Opened engine(EngineCase{type, 1});
    EXPECT_EQ(threadOf(engine, OperatorClass::inlineAsync, {}), std::this_thread::get_id());
    const Variable v = engine->newVariable();
    Gate gate;
    std::thread::id id;
    engine.run({}, {v}, [&gate] { gate.pass(); });
    engine.run(
        {}, {v}, [&id] { id = std::this_thread::get_id(); }, OperatorClass::inlineAsync);
    gate.open();
    expectOk(engine->waitForAll());
    EXPECT_NE(id, std::this_thread::get_id());
  }
}

TEST(Pools, AsManyWorkersAsAsked) {
  EngineOptions options;
  options.cpu_workers = 3;
  std::atomic<int> started{0};
  options.on_worker_start = [&started] { ++started; };
  Opened engine(options);
  Gate gate;
  std::atomic<int> together{0};
  std::atomic<int> most{0};
  for (int i = 0; i < 12; ++i) {
    engine.run({}, {}, [&] {
      const int now = ++together;
      for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
      }
      gate.pass();
      --together;
    });
  }
  EXPECT_TRUE(gate.waitForArrivals(3));
  gate.open();
  expectOk(engine->waitForAll());
  EXPECT_EQ(most, 3);
  engine->stop();
  EXPECT_EQ(started, 3 + 4);  // and the priority pool
}

// Blocks the only worker, pushes, releases it, and returns the order in which the operators ran.
template <class Push>
std::vector<int> orderBehindAGate(Opened& engine, OperatorClass operator_class, Push push) {
  Gate gate;
  std::vector<int> order;
  engine.run(
      {}, {}, [&gate] { gate.pass(); }, operator_class);
  EXPECT_TRUE(gate.waitForArrivals(1));
  push(order);
  gate.open();
  expectOk(engine->waitForAll());
  return order;
}

TEST(Pools, ThePriorityPoolRunsHigherFirstAndEqualInOrder) {
  EngineOptions options;
  options.cpu_priority_workers = 1;
  Opened engine(options);
  const std::vector<int> order =
      orderBehindAGate(engine, OperatorClass::prioritized, [&engine](std::vector<int>& ran) {
        for (int i = 0; i < 30; ++i) {
          engine.run(
              {}, {}, [&ran, i] { ran.push_back(i); }, OperatorClass::prioritized, i % 3);
        }
      });
  std::vector<int> expected;
  for (const int priority : {2, 1, 0}) {
    for (int i = priority; i < 30; i += 3) expected.push_back(i);
  }
  EXPECT_EQ(order, expected);
}

TEST(Pools, TheNormalPoolIgnoresPriority) {
  Opened engine(perDevice());
  const std::vector<int> order =
      orderBehindAGate(engine, OperatorClass::normal, [&engine](std::vector<int>& ran) {
        for (int i = 0; i < 20; ++i)
          engine.run(
              {}, {}, [&ran, i] { ran.push_back(i); }, OperatorClass::normal, i);
      });
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(order.size(), 20U);
}

TEST(Pools, DeletionGoesAheadOfTheQueue) {
  for (const EngineType type : {EngineType::threaded, EngineType::threadedPerDevice}) {
    Opened engine(EngineCase{type, 1});
    const Variable v = engine->newVariable();
    Gate gate;
    std::vector<int> order;
    engine.run({v}, {}, [&gate] { gate.pass(); });
    ASSERT_TRUE(gate.waitForArrivals(1));
    for (int i = 0; i < 3; ++i) engine.run({}, {}, [&order, i] { order.push_back(i); });
    engine->deleteVariable(v,
                           [&order](const RunContext&) -> Status { return order.push_back(-1), Status(); });
    gate.open();
    expectOk(engine->waitForAll());
    EXPECT_EQ(order, (std::vector<int>{-1, 0, 1, 2}));
  }
}

TEST(Pools, AnImpossibleDeviceIsAnErrorOfTheOperator) {
  for (const EngineType type : {EngineType::naive, EngineType::threaded, EngineType::threadedPerDevice}) {
    Opened engine(EngineCase{type, 1});
    bool ran = false;
    engine.run({}, {}, [&ran] { ran = true; }, OperatorClass::normal, 0, {DeviceKind::gpu, -1});
    expectError(engine->waitForAll(), "device gpu(-1): the index must be in 0..63");
    engine.run({}, {}, [&ran] { ran = true; }, OperatorClass::normal, 0, {DeviceKind::cpu, 64});
    expectError(engine->waitForAll(), "0..63");
    EXPECT_FALSE(ran);
  }
}

TEST(ReadyQueueByPriority, RemovesInTheOrderOfAStableSort) {
  std::vector<engine::Operator> operators(500);
  engine::ReadyQueue queue(engine::QueueOrder::priority);
  std::uint32_t random = 1;
  const auto next = [&random] { return random = random * 1664525U + 1013904223U, random >> 16; };
  std::vector<engine::Operator*> waiting;
  std::size_t added = 0;
  while (added < operators.size() || !waiting.empty()) {
    if (added < operators.size() && next() % 3 != 0) {
      engine::Operator& op = operators[added++];
      op.priority = static_cast<int>(next() % 7);
      queue.add(op);
      waiting.push_back(&op);
      continue;
    }
    if (waiting.empty()) continue;
    auto first = std::max_element(waiting.begin(), waiting.end(),
                                  [](const auto* a, const auto* b) { return a->priority < b->priority; });
    EXPECT_EQ(&queue.remove(), *first);
    waiting.erase(first);
  }
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace pitwall::test::pools_test
