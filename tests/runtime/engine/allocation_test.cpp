// After a warm-up, pushing, running, bulking and waiting allocate nothing: threads may still balance their
// free operators with a slab or two, but nothing grows with the number of operators.
#include <gtest/gtest.h>

#include "tests/runtime/engine/engine_fixture.h"
#include "tests/support/counted_allocations.h"

namespace pitwall::test::allocation_test {
namespace {

class Allocation : public testing::TestWithParam<EngineCase> {};

TEST_P(Allocation, NoneInSteadyState) {
  Opened engine(GetParam());
  std::vector<Variable> variables(16);
  for (Variable& v : variables) v = engine->newVariable();
  // Each turn has as many operators in flight as the others: all wait behind the gate.
  std::int64_t sum = 0;
  const auto turn = [&] {
    Gate gate;
    const bool held = GetParam().type != EngineType::naive;
    if (held) engine.run({}, {variables[0]}, [&gate] { gate.pass(); });
    for (std::size_t i = 0; i < 1000; ++i) {
      engine.run({variables[0], variables[i % 16], variables[i % 7]}, {variables[i % 5]},
                 [&sum, i] { sum += i % 2; });
      if (i % 100 == 0)
        engine.run({variables[0], variables[1], variables[2], variables[3], variables[4], variables[5]}, {},
                   [] {});
    }
    if (held) gate.open();
    expectOk(engine->waitForVariable(variables[1]));
    expectOk(engine->waitForAll());
  };
  for (int i = 0; i < 10; ++i) turn();
  const std::int64_t before = countedAllocations();
  for (int i = 0; i < 50; ++i) turn();
  EXPECT_LE(countedAllocations() - before,
            GetParam().type == EngineType::naive ? 0 : 6);  // for 50,000 operators
  EXPECT_EQ(sum, 60 * 500);
}

INSTANTIATE_TEST_SUITE_P(Engines, Allocation,
                         testing::Values(EngineCase{EngineType::naive, 1, 0},
                                         EngineCase{EngineType::threadedPerDevice, 1, 0},
                                         EngineCase{EngineType::threadedPerDevice, 1, 15},
                                         EngineCase{EngineType::threaded, 1, 0}),
                         caseName);

}  // namespace
}  // namespace pitwall::test::allocation_test
