// Errors belong to operators, propagate to dependent operators, and are reported once, at a wait.
#include <atomic>
#include <stdexcept>
#include <thread>

#include "tests/runtime/engine/engine_fixture.h"

namespace pitwall::test::errors_test {
namespace {

Status bad(const char* text) { return fail(ErrorCode::invalidInput, text); }

class Errors : public testing::TestWithParam<EngineCase> {};

TEST_P(Errors, SurfaceAtTheWaitNotAtThePush) {
  Opened engine(GetParam());
  const Variable v = engine->newVariable();
  engine.run({}, {v}, [] { return bad("no such file"); });
  const Status status = engine->waitForVariable(v);
  expectError(status, "no such file");
  EXPECT_EQ(status.error().code, ErrorCode::invalidInput);
  expectOk(engine->waitForVariable(v));
  expectOk(engine->waitForAll());
}

TEST_P(Errors, DependentsAreSkippedAndVersionsAdvance) {
  Opened engine(GetParam());
  const Variable a = engine->newVariable();
  const Variable b = engine->newVariable();
  const Variable c = engine->newVariable();
  bool ran = false;
  bool independent = false;
  engine.run({}, {a}, [] { return bad("root"); });
  engine.run({a}, {b}, [&ran] { ran = true; });
  engine.run({b}, {b, c}, [&ran] { ran = true; });
  const Variable other = engine->newVariable();
  engine.run({}, {other}, [&independent] { independent = true; });
  expectOk(engine->waitForVariable(other));
  EXPECT_TRUE(independent);
  expectError(engine->waitForVariable(c), "root");
  EXPECT_FALSE(ran);
  EXPECT_EQ(engine->version(a), 1U);
  EXPECT_EQ(engine->version(b), 2U);
  EXPECT_EQ(engine->version(c), 1U);
  expectOk(engine->waitForVariable(a));  // it surfaced already
  expectOk(engine->waitForVariable(b));
  expectOk(engine->waitForAll());
}

TEST_P(Errors, AVariableWorksAgainAfterItsErrorSurfaced) {
  Opened engine(GetParam());
  const Variable v = engine->newVariable();
  for (int round = 0; round < 3; ++round) {
    int value = 0;
    engine.run({}, {v}, [] { return bad("again"); });
    expectError(engine->waitForVariable(v), "again");
    engine.run({}, {v}, [&value] { value = 1; });
    expectOk(engine->waitForVariable(v));
    EXPECT_EQ(value, 1);
  }
}

TEST_P(Errors, OneWaitReportsAllItCovers) {
  Opened engine(GetParam());
  const Variable a = engine->newVariable();
  const Variable b = engine->newVariable();
  const Variable c = engine->newVariable();
  engine.run({}, {a}, [] { return bad("first"); });
  engine.run({}, {b}, [] { return bad("second"); });
  engine.run({a, b}, {c}, [] {});
  const Status status = engine->waitForVariable(c);
  expectError(status, "2 operators failed");
  expectError(status, "first");
  expectError(status, "second");
  expectOk(engine->waitForAll());
}

TEST_P(Errors, WaitForAllReportsAllThatAreLeft) {
  Opened engine(GetParam());
  std::vector<Variable> variables(4);
  for (std::size_t i = 0; i < variables.size(); ++i) {
    variables[i] = engine->newVariable();
    engine.run({}, {variables[i]}, [i] { return bad(("number " + std::to_string(i)).c_str()); });
  }
  engine.run({}, {}, [] { return bad("writes nothing"); });
  expectError(engine->waitForVariable(variables[2]), "number 2");
  const Status status = engine->waitForAll();
  for (const char* text : {"4 operators", "number 0", "number 1", "number 3", "writes nothing"}) {
    expectError(status, text);
  }
  EXPECT_EQ(status.error().message.find("number 2"), std::string::npos);
  expectOk(engine->waitForAll());
}

TEST_P(Errors, AnExceptionBecomesAnErrorThatNamesTheOperator) {
  Opened engine(GetParam());
  const Variable v = engine->newVariable();
  OperatorFacts facts;
  facts.name = "Convolution";
  facts.layer = "conv1";
  engine->push({.run = [](const RunContext&) -> Status { throw std::runtime_error("out of luck"); },
                .writes = {&v, 1},
                .facts = engine.profiler.operatorFacts(facts)});
  const Status status = engine->waitForVariable(v);
  expectError(status, "out of luck");
  expectError(status, "'Convolution' of layer 'conv1'");
  EXPECT_EQ(status.error().code, ErrorCode::internal);
  engine->push({.run = [](const RunContext&) -> Status { throw 7; }, .writes = {&v, 1}});
  expectError(engine->waitForAll(), "threw an object");
}

TEST_P(Errors, NoSkipRunsAndHandsTheErrorOn) {
  Opened engine(GetParam());
  const Variable a = engine->newVariable();
  const Variable b = engine->newVariable();
  bool ran = false;
  engine.run({}, {a}, [] { return bad("root"); });
  engine.run(
      {a}, {b}, [&ran] { ran = true; }, OperatorClass::noSkip);
  expectError(engine->waitForVariable(b), "root");
  EXPECT_TRUE(ran);
}

TEST_P(Errors, DeletionRunsInSpiteOfTheErrorWhichSurfacesLater) {
  Opened engine(GetParam());
  const Variable v = engine->newVariable();
  std::atomic<bool> deleted{false};
  engine.run({}, {v}, [] { return bad("root"); });
  engine->deleteVariable(v, [&deleted](const RunContext&) -> Status {
    deleted = true;
    return bad("deletion");
  });
  const Status status = engine->waitForAll();
  expectError(status, "root");
  expectError(status, "deletion");
  EXPECT_TRUE(deleted);
  const Variable next = engine->newVariable();  // likely the same place in memory
  EXPECT_EQ(engine->version(next), 0U);
  expectOk(engine->waitForVariable(next));
}

INSTANTIATE_TEST_SUITE_P(Engines, Errors, testing::ValuesIn(allCases()), caseName);

class ErrorsTogether : public testing::TestWithParam<EngineType> {};

TEST_P(ErrorsTogether, NoneIsLostWhenManyFailAtOnce) {
  Opened engine(EngineCase{GetParam(), 4});
  constexpr int kRounds = 50;
  constexpr int kOperators = 16;
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kOperators; ++i) {
      engine.run({}, {engine->newVariable()}, [] { return bad("#"); });
    }
    const Status status = engine->waitForAll();
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(std::count(status.error().message.begin(), status.error().message.end(), '#'), kOperators);
  }
}

TEST_P(ErrorsTogether, EachSurfacesInOneOfSeveralWaitingThreads) {
  Opened engine(EngineCase{GetParam(), 4});
  const Variable v = engine->newVariable();
  std::atomic<int> seen{0};
  constexpr int kRounds = 50;
  for (int round = 0; round < kRounds; ++round) {
    engine.run({}, {v}, [] { return bad("#"); });
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&, i] {
        const Status status = i == 0 ? engine->waitForAll() : engine->waitForVariable(v);
        seen += status.has_value() ? 0 : 1;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(seen, round + 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, ErrorsTogether,
                         testing::Values(EngineType::naive, EngineType::threaded,
                                         EngineType::threadedPerDevice),
                         [](const auto& one) { return std::string(toString(one.param)); });

TEST(UncollectedErrors, AreToldWhenTheEngineEnds) {
  for (const EngineType type : {EngineType::naive, EngineType::threadedPerDevice}) {
    testing::internal::CaptureStderr();
    {
      Opened engine(EngineCase{type, 1});
      engine.run({}, {engine->newVariable()}, [] { return bad("no thread waited"); });
    }
    EXPECT_NE(testing::internal::GetCapturedStderr().find("no thread waited"), std::string::npos);
  }
}

TEST(ErrorsDeathTest, AnOperatorThatWaitsIsABug) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        Opened engine(EngineCase{EngineType::naive, 1});
        const Variable v = engine->newVariable();
        engine.run({}, {v}, [&] { return engine->waitForVariable(v); });
      },
      "an operator waits");
  EXPECT_DEATH(
      {
        Opened engine(EngineCase{EngineType::threadedPerDevice, 1});
        const Variable v = engine->newVariable();
        engine.run({}, {v}, [&] { return engine->waitForAll(); });
        expectOk(engine->waitForAll());
      },
      "an operator waits");
}

}  // namespace
}  // namespace pitwall::test::errors_test
