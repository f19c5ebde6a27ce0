// Bulk segments: same results and same errors, fewer dispatches.
#include <atomic>
#include <thread>

#include "tests/runtime/engine/engine_fixture.h"

namespace pitwall::test::bulk_test {
namespace {

// Distinguishes segments: operators of one segment see the same version of a variable that all of them write,
// since a segment completes as a whole.
class SegmentProbe {
 public:
  explicit SegmentProbe(Opened& engine) : engine_(engine), variable_(engine->newVariable()) {}
  void push(OperatorClass operator_class = OperatorClass::normal, int priority = 0, Device device = {}) {
    engine_->push({.run = [this](const RunContext& context) -> Status {
                     seen_.push_back(engine_->version(variable_));
                     bulk_.push_back(context.is_bulk);
                     return {};
                   },
                   .writes = {&variable_, 1},
                   .device = device,
                   .operator_class = operator_class,
                   .priority = priority});
  }
  // Sizes of the segments so far, in order. Waits.
  std::vector<int> segments() {
    expectOk(engine_->waitForVariable(variable_));
    std::vector<int> sizes;
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      if (i == 0 || seen_[i] != seen_[i - 1]) sizes.push_back(0);
      ++sizes.back();
    }
    return sizes;
  }
  const std::vector<bool>& isBulk() const { return bulk_; }
  Variable variable() const { return variable_; }

 private:
  Opened& engine_;
  Variable variable_;
  std::vector<std::uint64_t> seen_;
  std::vector<bool> bulk_;
};

class Bulk : public testing::TestWithParam<EngineType> {
 protected:
  Opened engine{EngineCase{GetParam(), 2}};
};

using Sizes = std::vector<int>;

TEST_P(Bulk, IsOffAtFirst) {
  SegmentProbe probe(engine);
  for (int i = 0; i < 3; ++i) probe.push();
  EXPECT_EQ(probe.segments(), (Sizes{1, 1, 1}));
  EXPECT_EQ(probe.isBulk(), (std::vector<bool>{false, false, false}));
  EXPECT_EQ(engine->setBulkSize(4), 0);
  EXPECT_EQ(engine->setBulkSize(0), 4);
}

TEST_P(Bulk, EndsAtItsSizeAndAtAWait) {
  SegmentProbe probe(engine);
  const BulkScope bulk(*engine.engine, 4);
  for (int i = 0; i < 10; ++i) probe.push();
  EXPECT_EQ(probe.segments(), (Sizes{4, 4, 2}));
  EXPECT_EQ(probe.isBulk(), std::vector<bool>(10, true));
  probe.push();
  expectOk(engine->waitForAll());
  EXPECT_EQ(probe.segments(), (Sizes{4, 4, 2, 1}));
  EXPECT_FALSE(probe.isBulk().back());  // a single operator is not a bulk
}

TEST_P(Bulk, SizeOneIsOff) {
  SegmentProbe probe(engine);
  const BulkScope bulk(*engine.engine, 1);
  for (int i = 0; i < 3; ++i) probe.push();
  EXPECT_EQ(probe.segments(), (Sizes{1, 1, 1}));
}

TEST_P(Bulk, EndsAtADifferentDevice) {
  SegmentProbe probe(engine);
  const BulkScope bulk(*engine.engine, 10);
  const Device other{DeviceKind::cpu, 1};
  probe.push();
  probe.push();
  for (int i = 0; i < 3; ++i) probe.push(OperatorClass::normal, 0, other);
  probe.push();
  probe.push();
  EXPECT_EQ(probe.segments(), (Sizes{2, 3, 2}));
}

TEST_P(Bulk, EndsAtEveryOtherPush) {
  SegmentProbe probe(engine);
  const BulkScope bulk(*engine.engine, 10);
  for (const OperatorClass other : {OperatorClass::prioritized, OperatorClass::copyToGpu,
                                    OperatorClass::inlineAsync, OperatorClass::noSkip}) {
    probe.push();
    probe.push();
    probe.push(other);
  }
  probe.push();
  probe.push();
  probe.push(OperatorClass::normal, 5);
  EXPECT_EQ(probe.segments(), (Sizes{2, 1, 2, 1, 2, 1, 2, 1, 2, 1}));
}

TEST_P(Bulk, EndsAtADeletion) {
  SegmentProbe probe(engine);
  const BulkScope bulk(*engine.engine, 10);
  probe.push();
  probe.push();
  engine->deleteVariable(engine->newVariable());
  probe.push();
  probe.push();
  EXPECT_EQ(probe.segments(), (Sizes{2, 2}));
}

TEST_P(Bulk, EndsAtALowerSizeButNotAtAHigher) {
  SegmentProbe probe(engine);
  engine->setBulkSize(5);
  probe.push();
  probe.push();
  engine->setBulkSize(8);
  probe.push();
  EXPECT_EQ(engine->setBulkSize(2), 8);
  probe.push();
  probe.push();
  EXPECT_EQ(engine->setBulkSize(0), 2);
  probe.push();
  EXPECT_EQ(probe.segments(), (Sizes{3, 2, 1}));
}

TEST_P(Bulk, EndsWithItsThread) {
  SegmentProbe probe(engine);
  std::thread([&] {
    engine->setBulkSize(100);
    for (int i = 0; i < 3; ++i) probe.push();
  }).join();
  EXPECT_EQ(engine->setBulkSize(0), 0);  // the size is the thread's own
  EXPECT_EQ(probe.segments(), (Sizes{3}));
}

TEST_P(Bulk, CountsEveryWrite) {
  const Variable a = engine->newVariable();
  const Variable b = engine->newVariable();
  const BulkScope bulk(*engine.engine, 10);
  for (int i = 0; i < 7; ++i) engine.run({a}, {b}, [] {});
  engine.run({b}, {a}, [] {});
  expectOk(engine->waitForAll());
  EXPECT_EQ(engine->version(a), 1U);
  EXPECT_EQ(engine->version(b), 7U);
}

TEST_P(Bulk, ArithmeticIsRightAcrossWaits) {
  const Variable x = engine->newVariable();
  const Variable y = engine->newVariable();
  double x_value = 0;
  double y_value = 0;
  const BulkScope bulk(*engine.engine, 10);
  engine.run({}, {x}, [&] { x_value = 1; });
  for (int i = 0; i < 5; ++i) {
    engine.run({}, {x}, [&] { x_value *= 2; });
    engine.run({x}, {y}, [&] { y_value = x_value + 1; });
    expectOk(engine->waitForVariable(y));
    EXPECT_EQ(y_value, (2 << i) + 1);
    for (int k = 0; k < 100; ++k) engine.run({x}, {y}, [&] { y_value += 1; });
  }
  expectOk(engine->waitForAll());
  EXPECT_EQ(x_value, 32);
  EXPECT_EQ(y_value, 133);
}

TEST_P(Bulk, AFailureSkipsItsDependentsAlone) {
  const Variable a = engine->newVariable();
  const Variable b = engine->newVariable();
  const Variable c = engine->newVariable();
  const Variable d = engine->newVariable();
  int ran = 0;
  {
    const BulkScope bulk(*engine.engine, 10);
    engine.run({}, {a}, [] { return fail(ErrorCode::invalidInput, "one"); });
    engine.run({a}, {b}, [&ran] { ran += 1; });
    engine.run({}, {c}, [&ran] { ran += 10; });
    engine.run({c}, {d}, [&ran]() -> Status {
      ran += 100;
      return fail(ErrorCode::invalidInput, "two");
    });
  }
  expectOk(engine->waitForVariable(c));
  expectError(engine->waitForVariable(d), "two");
  const Status status = engine->waitForVariable(b);
  expectError(status, "one");
  EXPECT_EQ(status.error().message.find("two"), std::string::npos);
  EXPECT_EQ(ran, 110);
  expectOk(engine->waitForAll());
}

TEST_P(Bulk, ManyVariablesInOneSegment) {
  std::vector<Variable> variables(1000);
  for (Variable& v : variables) v = engine->newVariable();
  int ran = 0;
  {
    const BulkScope bulk(*engine.engine, 2000);
    for (std::size_t i = 0; i + 1 < variables.size(); ++i) {
      engine.run({variables[i]}, {variables[i + 1]}, [&ran] { ++ran; });
    }
  }
  expectOk(engine->waitForAll());
  EXPECT_EQ(ran, 999);
  EXPECT_EQ(engine->version(variables[0]), 0U);
  EXPECT_EQ(engine->version(variables[999]), 1U);
}

INSTANTIATE_TEST_SUITE_P(Engines, Bulk, testing::Values(EngineType::threaded, EngineType::threadedPerDevice),
                         [](const auto& one) { return std::string(toString(one.param)); });

TEST(BulkNaive, RemembersTheSizeAndIgnoresIt) {
  Opened engine(EngineCase{EngineType::naive});
  EXPECT_EQ(engine->setBulkSize(5), 0);
  bool ran = false;
  engine.run({}, {}, [&ran] { ran = true; });
  EXPECT_TRUE(ran);
  EXPECT_EQ(engine->setBulkSize(0), 5);
}

}  // namespace
}  // namespace pitwall::test::bulk_test
