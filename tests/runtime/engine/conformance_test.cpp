// Random programs: with any engine, number of workers and bulk size, data and errors are those of running the
// program line by line.
#include <gmock/gmock.h>

#include <cstdint>
#include <random>
#include <set>

#include "tests/runtime/engine/engine_fixture.h"

namespace pitwall::test::conformance_test {
namespace {

constexpr int kVariables = 100;
constexpr int kOperators = 10'000;

struct Step {
  std::vector<std::uint32_t> reads;
  std::uint32_t write = 0;
  std::uint32_t work = 0;
  bool fails = false;
  OperatorClass operator_class = OperatorClass::normal;
  int priority = 0;
  Device device;
};

struct Program {
  std::vector<Step> steps;
};

Program makeProgram(std::uint32_t seed, int count) {
  std::mt19937 random(seed);
  const auto below = [&random](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  Program program;
  for (int i = 0; i < count; ++i) {
    Step step;
    for (std::uint32_t n = 2 + below(18); n > 0; --n) step.reads.push_back(below(kVariables));
    step.write = below(kVariables);
    step.work = below(200);
    program.steps.push_back(std::move(step));
  }
  return program;
}

// Every class, both kinds of device, several indices and priorities.
void scatter(Program& program, std::uint32_t seed) {
  constexpr OperatorClass kClasses[] = {OperatorClass::normal,      OperatorClass::copyFromGpu,
                                        OperatorClass::copyToGpu,   OperatorClass::prioritized,
                                        OperatorClass::inlineAsync, OperatorClass::noSkip};
  std::mt19937 random(seed);
  for (Step& step : program.steps) {
    if (random() % 2 == 0) continue;  // half of them stay bulkable
    step.operator_class = kClasses[random() % std::size(kClasses)];
    step.priority = static_cast<int>(random() % 7) - 3;
    step.device = {random() % 2 == 0 ? DeviceKind::cpu : DeviceKind::gpu, static_cast<int>(random() % 2)};
  }
}

using Data = std::vector<std::uint64_t>;

void apply(const Step& step, Data& data) {
  std::uint64_t value = data[step.write] + 1;
  for (const std::uint32_t read : step.reads) value = value * 6364136223846793005ULL + data[read];
  for (std::uint32_t i = 0; i < step.work; ++i) value ^= value << 7, value ^= value >> 9;
  data[step.write] = value;
}

Data serial(const Program& program) {
  Data data(kVariables, 1);
  for (const Step& step : program.steps) apply(step, data);
  return data;
}

void pushAll(Engine& engine, const Program& program, std::span<const Variable> variables, Data& data) {
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    std::vector<Variable> reads;
    for (const std::uint32_t read : step.reads) reads.push_back(variables[read]);
    engine.push({.run = [&step, &data, i](const RunContext&) -> Status {
                   if (step.fails) return fail(ErrorCode::invalidInput, "<" + std::to_string(i) + ">");
                   apply(step, data);
                   return {};
                 },
                 .reads = reads,
                 .writes = {&variables[step.write], 1},
                 .device = step.device,
                 .operator_class = step.operator_class,
                 .priority = step.priority});
  }
}

std::vector<Variable> newVariables(Engine& engine) {
  std::vector<Variable> variables(kVariables);
  for (Variable& variable : variables) variable = engine.newVariable();
  return variables;
}

class Conformance : public testing::TestWithParam<EngineCase> {};

TEST_P(Conformance, DataAreThoseOfSerialExecution) {
  for (std::uint32_t seed = 1; seed <= 5; ++seed) {
    const Program program = makeProgram(seed, kOperators);
    Opened engine(GetParam());
    const std::vector<Variable> variables = newVariables(*engine.engine);
    Data data(kVariables, 1);
    pushAll(*engine.engine, program, variables, data);
    expectOk(engine->waitForAll());
    ASSERT_EQ(data, serial(program)) << "seed " << seed;
    std::uint64_t writes = 0;
    for (const Variable variable : variables) writes += engine->version(variable);
    EXPECT_EQ(writes, static_cast<std::uint64_t>(kOperators)) << "seed " << seed;
  }
}

TEST_P(Conformance, DataAreThoseOfSerialExecutionAcrossPools) {
  Program program = makeProgram(11, 4'000);
  scatter(program, 12);
  Opened engine(GetParam());
  const std::vector<Variable> variables = newVariables(*engine.engine);
  Data data(kVariables, 1);
  pushAll(*engine.engine, program, variables, data);
  expectOk(engine->waitForAll());
  EXPECT_EQ(data, serial(program));
}

TEST_P(Conformance, EveryVariableIsRightWhenWaitedForAlone) {
  const Program program = makeProgram(21, 2'000);
  Opened engine(GetParam());
  const std::vector<Variable> variables = newVariables(*engine.engine);
  Data data(kVariables, 1);
  const Data expected = serial(program);
  pushAll(*engine.engine, program, variables, data);
  for (std::size_t i = 0; i < variables.size(); ++i) {
    expectOk(engine->waitForVariable(variables[i]));
    EXPECT_EQ(data[i], expected[i]) << "variable " << i;
  }
  expectOk(engine->waitForAll());
}

// What a line-by-line run would do with errors: an operator that uses a variable that carries errors is
// skipped and passes all of them on.
std::set<std::string> serialErrors(const Program& program, Data& data) {
  std::vector<bool> carries(kVariables, false);
  std::set<std::string> errors;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    bool skipped = carries[step.write];
    for (const std::uint32_t read : step.reads) skipped = skipped || carries[read];
    if (skipped) {
      carries[step.write] = true;
    } else if (step.fails) {
      carries[step.write] = true;
      errors.insert("<" + std::to_string(i) + ">");
    } else {
      apply(step, data);
    }
  }
  return errors;
}

// The parts "<n>" of a message; each must occur once.
std::set<std::string> errorsNamedIn(const std::string& message) {
  std::set<std::string> names;
  for (std::size_t at = message.find('<'); at != std::string::npos; at = message.find('<', at + 1)) {
    const std::string name = message.substr(at, message.find('>', at) - at + 1);
    EXPECT_TRUE(names.insert(name).second) << name << " reported twice";
  }
  return names;
}

TEST_P(Conformance, ErrorsAreThoseOfSerialExecution) {
  for (std::uint32_t seed = 31; seed <= 35; ++seed) {
    Program program = makeProgram(seed, 400);
    std::mt19937 random(seed);
    for (Step& step : program.steps) {
      step.fails = random() % 20 == 0;
      step.reads.resize(1);  // so that not all is skipped at once
    }
    Opened engine(GetParam());
    const std::vector<Variable> variables = newVariables(*engine.engine);
    Data data(kVariables, 1);
    Data expected_data(kVariables, 1);
    const std::set<std::string> expected = serialErrors(program, expected_data);
    ASSERT_GE(expected.size(), 2U);
    pushAll(*engine.engine, program, variables, data);
    const Status status = engine->waitForAll();
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(errorsNamedIn(status.error().message), expected) << "seed " << seed;
    EXPECT_EQ(data, expected_data) << "seed " << seed;
    expectOk(engine->waitForAll());
  }
}

TEST_P(Conformance, EachErrorSurfacesOnceOverAllWaits) {
  Program program = makeProgram(41, 400);
  std::mt19937 random(42);
  for (Step& step : program.steps) {
    step.fails = random() % 20 == 0;
    step.reads.resize(1);
  }
  Opened engine(GetParam());
  const std::vector<Variable> variables = newVariables(*engine.engine);
  Data data(kVariables, 1);
  Data expected_data(kVariables, 1);
  const std::set<std::string> expected = serialErrors(program, expected_data);
  const Variable held = engine->newVariable();
  pushAll(*engine.engine, program, variables, data);
  // All have finished before the first error is taken, so that reporting changes nothing for others.
  for (const Variable variable : variables) {
    engine.run(
        {variable}, {held}, [] {}, OperatorClass::noSkip);
  }
  std::set<std::string> seen;
  const auto collect = [&seen](const Status& status) {
    if (status.has_value()) return;
    for (const std::string& name : errorsNamedIn(status.error().message)) {
      EXPECT_TRUE(seen.insert(name).second) << name << " surfaced twice";
    }
  };
  collect(engine->waitForVariable(held));
  for (const Variable variable : variables) collect(engine->waitForVariable(variable));
  collect(engine->waitForAll());
  EXPECT_EQ(seen, expected);
}

INSTANTIATE_TEST_SUITE_P(Engines, Conformance, testing::ValuesIn(allCases()), caseName);

}  // namespace
}  // namespace pitwall::test::conformance_test
