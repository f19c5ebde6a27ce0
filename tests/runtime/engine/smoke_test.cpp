#include <gtest/gtest.h>

#include "runtime/engine.h"

namespace pitwall {
namespace {

class AnyEngine : public testing::TestWithParam<EngineType> {};

TEST_P(AnyEngine, RunsAChain) {
  Profiler profiler;
  auto opened = Engine::open({.type = GetParam()}, profiler);
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  Engine& engine = **opened;
  const Variable v = engine.newVariable();
  int value = 0;
  for (int i = 0; i < 100000; ++i) {
    engine.push({.run = [&value](const RunContext&) -> Status {
                   ++value;
                   return {};
                 },
                 .writes = {&v, 1}});
  }
  ASSERT_TRUE(engine.waitForVariable(v).has_value());
  EXPECT_EQ(value, 100000);
  EXPECT_EQ(engine.version(v), 100000U);
  engine.deleteVariable(v);
  EXPECT_TRUE(engine.waitForAll().has_value());
}

INSTANTIATE_TEST_SUITE_P(Engines, AnyEngine,
                         testing::Values(EngineType::naive, EngineType::threaded,
                                         EngineType::threadedPerDevice),
                         [](const auto& test) { return std::string(toString(test.param)); });

}  // namespace
}  // namespace pitwall
