// Operators that complete after their function has returned: late, out of order, from other threads, with an
// error, or never.
#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/runtime/engine/completion_fixture.h"
#include "tests/support/memory_sink.h"

namespace pitwall::test::completion_test {
namespace {

class Completions : public testing::TestWithParam<EngineCase> {
 protected:
  Completions() : engine(GetParam()) {}
  bool isNaive() const { return GetParam().type == EngineType::naive; }

  // Pushes an operator that `start(Completion)` starts.
  template <class Start>
  void push(std::initializer_list<Variable> reads, std::initializer_list<Variable> writes, Start start,
            OperatorClass operator_class = OperatorClass::normal) {
    engine->push({.run =
                      [start = std::move(start)](const RunContext& context, Completion completion) mutable {
                        EXPECT_FALSE(context.is_bulk);
                        start(std::move(completion));
                      },
                  .reads = reads,
                  .writes = writes,
                  .facts = receive(),
                  .operator_class = operator_class});
  }
  OperatorId receive() {
    OperatorFacts facts;
    facts.name = "Receive";
    facts.layer = "ring";
    return engine.profiler.operatorFacts(facts);
  }

  Opened engine;
};

TEST_P(Completions, DependentsRunAfterTheLateCompletion) {
  Finisher finisher;
  const Variable v = engine->newVariable();
  int value = 0, seen = 0;
  push({}, {v}, [&](Completion completion) {
    finisher.give(std::move(completion), [&value]() -> Status {
      value = 7;
      return {};
    });
  });
  engine.run({v}, {}, [&] { seen = value; });
  expectOk(engine->waitForVariable(v));
  EXPECT_EQ(value, 7);
  EXPECT_EQ(engine->version(v), 1U);
  expectOk(engine->waitForAll());
  EXPECT_EQ(seen, 7);
}

TEST_P(Completions, OutOfOrder) {
  constexpr std::size_t kOperators = 30;
  Finisher finisher(isNaive() ? 1 : kOperators);
  std::vector<int> values(kOperators, 0), seen(kOperators, 0);
  std::vector<Variable> variables(kOperators);
  for (std::size_t i = 0; i < kOperators; ++i) {
    const Variable v = variables[i] = engine->newVariable();
    push({}, {v}, [&finisher, &values, i](Completion completion) {
      finisher.give(std::move(completion), [&values, i]() -> Status {
        values[i] = static_cast<int>(i) + 1;
        return {};
      });
    });
    engine.run({v}, {}, [&seen, &values, i] { seen[i] = values[i]; });
  }
  expectOk(engine->waitForAll());
  for (std::size_t i = 0; i < kOperators; ++i) {
    EXPECT_EQ(seen[i], static_cast<int>(i) + 1);
    EXPECT_EQ(engine->version(variables[i]), 1U);
  }
}

TEST_P(Completions, InOrderOnOneVariable) {
  Finisher finisher(1, 3);
  const Variable v = engine->newVariable();
  std::vector<int> order;  // ordered by v
  for (int i = 0; i < 60; ++i) {
    const auto note = [&order, i]() -> Status {
      order.push_back(i);
      return {};
    };
    if (i % 3 == 0) {
      engine.run({}, {v}, note);
    } else {
      push({}, {v}, [&finisher, note](Completion completion) { finisher.give(std::move(completion), note); });
    }
  }
  expectOk(engine->waitForVariable(v));
  EXPECT_EQ(order.size(), 60U);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(engine->version(v), 60U);
}

TEST_P(Completions, AnErrorReachesDependentsAndTheWait) {
  Finisher finisher;
  const Variable a = engine->newVariable(), b = engine->newVariable();
  bool ran = false;
  push({}, {a}, [&](Completion completion) {
    finisher.give(std::move(completion), [] { return bad("the peer is gone"); });
  });
  engine.run({a}, {b}, [&ran] { ran = true; });
  push({b}, {b}, [&ran](Completion completion) {
    ran = true;
    completion({});
  });
  const Status status = engine->waitForVariable(b);
  expectError(status, "the peer is gone");
  EXPECT_EQ(status.error().code, ErrorCode::io);
  EXPECT_FALSE(ran);
  EXPECT_EQ(engine->version(b), 2U);
  expectOk(engine->waitForAll());
}

TEST_P(Completions, DroppedIsAnErrorThatNamesTheOperator) {
  const Variable v = engine->newVariable();
  push({}, {v}, [](Completion) {});  // by the function itself
  expectError(engine->waitForVariable(v), "operator 'Receive' of layer 'ring' was never completed");
  std::thread other;
  push({}, {v}, [&other](Completion completion) { other = std::thread([kept = std::move(completion)] {}); });
  expectError(engine->waitForAll(), "operator 'Receive' of layer 'ring' was never completed");
  other.join();
  EXPECT_EQ(engine->version(v), 2U);
  Completion replaced;
  push({}, {v}, [&replaced](Completion completion) {
    replaced = std::move(completion);
    replaced = Completion();
  });
  expectError(engine->waitForAll(), "never completed");
}

TEST_P(Completions, AnExceptionIsTheOnlyError) {
  const Variable v = engine->newVariable();
  push({}, {v}, [](Completion) { throw std::runtime_error("no route"); });
  const Status status = engine->waitForVariable(v);
  expectError(status, "operator 'Receive' of layer 'ring' threw an exception: no route");
  EXPECT_EQ(status.error().message.find("never completed"), std::string::npos);
  expectOk(engine->waitForAll());

  Finisher finisher;
  push({}, {v}, [&finisher](Completion completion) {
    finisher.give(std::move(completion));
    throw std::runtime_error("after it was given away");
  });
  expectError(engine->waitForVariable(v), "after it was given away");
}

TEST_P(Completions, WhatTheFunctionHoldsIsDestroyedAfterBothEnds) {
  const Variable v = engine->newVariable();
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = held;
  push({}, {v}, [held = std::move(held), &watched](Completion completion) {
    std::thread([&completion] { completion({}); }).join();  // before the function has returned
    EXPECT_FALSE(watched.expired());
    EXPECT_EQ(*held, 1);
  });
  expectOk(engine->waitForVariable(v));
  expectOk(engine->waitForAll());
  EXPECT_TRUE(watched.expired());
}

TEST_P(Completions, SkippedWhenAnInputFailed) {
  const Variable a = engine->newVariable(), b = engine->newVariable();
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = held;
  engine.run({}, {a}, [] { return bad("root"); });
  push({a}, {b}, [held = std::move(held)](Completion) { ADD_FAILURE() << "it must be skipped"; });
  expectError(engine->waitForVariable(b), "root");
  expectOk(engine->waitForAll());
  EXPECT_TRUE(watched.expired());
  EXPECT_EQ(engine->version(b), 1U);
}

TEST_P(Completions, NoSkipAndDeletionStartDespiteErrors) {
  Finisher finisher;
  const Variable a = engine->newVariable();
  std::atomic<int> started{0};
  engine.run({}, {a}, [] { return bad("root"); });
  push(
      {a}, {a},
      [&](Completion completion) {
        ++started;
        finisher.give(std::move(completion));
      },
      OperatorClass::noSkip);
  engine->deleteVariable(a, [&](const RunContext&, Completion completion) {
    ++started;
    finisher.give(std::move(completion));
  });
  expectError(engine->waitForAll(), "root");
  EXPECT_EQ(started, 2);
  EXPECT_EQ(engine->version(engine->newVariable()), 0U);
}

TEST_P(Completions, EachClassAndDevice) {
  Finisher finisher(1, 2);
  std::atomic<int> completed{0};
  using enum OperatorClass;
  for (const OperatorClass operator_class : {normal, copyToGpu, prioritized, inlineAsync, noSkip}) {
    for (const Device device : {cpu(0), cpu(1), gpu(0)}) {
      engine->push({.run =
                        [&](const RunContext&, Completion completion) {
                          finisher.give(std::move(completion), [&completed]() -> Status {
                            ++completed;
                            return {};
                          });
                        },
                    .device = device,
                    .operator_class = operator_class});
    }
  }
  expectOk(engine->waitForAll());
  EXPECT_EQ(completed, 15);
}

TEST_P(Completions, StopAndTheEndWaitForOpenOnes) {
  Finisher finisher;
  std::atomic<int> completed{0};
  const auto start = [&](Completion completion) {
    finisher.give(std::move(completion), [&completed]() -> Status {
      ++completed;
      return {};
    });
  };
  push({}, {}, start);
  engine->stop();
  EXPECT_EQ(completed, 1);
  const Variable v = engine->newVariable();
  push({}, {v}, start);  // while stopped: on this thread
  int after = 0;
  engine.run({v}, {}, [&] { after = completed; });
  expectOk(engine->waitForAll());
  EXPECT_EQ(after, 2);
  expectOk(engine->start(optionsOf(GetParam())));
  push({}, {}, start);
  engine.engine.reset();
  EXPECT_EQ(completed, 3);
}

TEST_P(Completions, InABulkRegionTheyRunAlone) {
  Finisher finisher;
  const BulkScope bulk(*engine.engine, 8);
  const Variable v = engine->newVariable();
  std::vector<int> order;
  for (int i = 0; i < 40; ++i) {
    if (i % 5 == 2) {
      push({}, {v}, [&finisher, &order, i](Completion completion) {
        finisher.give(std::move(completion), [&order, i]() -> Status {
          order.push_back(i);
          return {};
        });
      });
    } else {
      engine.run({}, {v}, [&order, i] { order.push_back(i); });
    }
  }
  expectOk(engine->waitForVariable(v));
  EXPECT_EQ(order.size(), 40U);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_P(Completions, AnotherOperatorMayComplete) {
  if (isNaive()) GTEST_SKIP() << "the naive engine waits for each operator inside push()";
  const Variable a = engine->newVariable();
  Completion kept;
  Gate started;
  started.open();
  push({}, {a}, [&](Completion completion) {
    kept = std::move(completion);
    started.pass();
  });
  engine->setBulkSize(0);
  ASSERT_TRUE(started.waitForArrivals(1));
  bool ran = false;
  engine.run({a}, {}, [&ran] { ran = true; });
  engine.run({}, {}, [&kept] { kept({}); });
  expectOk(engine->waitForAll());
  EXPECT_TRUE(ran);
}

TEST_P(Completions, TheRecordedEventEndsWithTheCompletion) {
  Finisher finisher;
  auto owned = std::make_unique<MemorySink>();
  MemorySink& sink = *owned;
  expectOk(engine.profiler.start(std::move(owned)));
  const Variable v = engine->newVariable();
  std::atomic<Ticks> completed_at{0};
  engine.run({}, {v}, [] {});
  push({v}, {v}, [&](Completion completion) {
    finisher.give(std::move(completion), [&completed_at]() -> Status {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      completed_at = Profiler::now();
      return {};
    });
  });
  engine.run(
      {v}, {}, [] {}, OperatorClass::normal, 0, cpu(1));
  expectOk(engine->waitForAll());
  expectOk(engine.profiler.flush());
  std::vector<Event> events = sink.eventsOf(EventKind::operatorRun);
  ASSERT_EQ(events.size(), 3U);
  std::sort(events.begin(), events.end(),
            [](const Event& a, const Event& b) { return a.correlation < b.correlation; });
  const Event &first = events[0], &late = events[1], &last = events[2];
  EXPECT_EQ(sink.text(late.name), "Receive");
  EXPECT_LE(late.pushed_ns, late.ready_ns);
  EXPECT_LE(late.ready_ns, late.start_ns);
  EXPECT_LE(first.start_ns + first.dur_ns, late.start_ns);
  EXPECT_GE(late.dur_ns, 2'000'000);
  EXPECT_GE(last.start_ns, late.start_ns + late.dur_ns);
  // Chained by the variable, as other operators are.
  const auto depends = [&sink](const Event& on, const Event& of) {
    return std::any_of(sink.all_dependencies.begin(), sink.all_dependencies.end(), [&](const Dependency& d) {
      return d.source == on.correlation && d.target == of.correlation;
    });
  };
  EXPECT_TRUE(depends(first, late));
  EXPECT_TRUE(depends(late, last));
  EXPECT_EQ(sink.text(late.args), "") << "on cpu(0)";
  EXPECT_EQ(sink.text(last.args), R"({"device":"cpu/1"})");
  expectOk(engine.profiler.stop());
}

INSTANTIATE_TEST_SUITE_P(Engines, Completions, testing::ValuesIn(allCases()), caseName);

TEST(CompletionDeathTest, CalledTwiceIsABug) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        Opened engine(EngineCase{EngineType::naive, 1});
        engine->push({.run = [](const RunContext&, Completion completion) {
          completion({});
          completion({});
        }});
      },
      "called twice");
}

}  // namespace
}  // namespace pitwall::test::completion_test
