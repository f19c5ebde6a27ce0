// What tests of training share.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tests/runtime/graph/executor_check.h"

namespace pitwall::test {

using GradientValues = std::map<std::string, std::vector<float>>;

inline const Shape kTrainingImages{4, 3, 12, 10};

inline ArraysByName labelled(Session& session, const Symbol& symbol, const Shape& data) {
  ArraysByName arrays = arraysOf(session, symbol, data);
  for (auto& [name, array] : arrays) {
    if (!name.ends_with("_label")) continue;
    std::vector<float> classes(static_cast<std::size_t>(array.shape().elements()));
    for (std::size_t i = 0; i < classes.size(); ++i) classes[i] = static_cast<float>(i % 5);
    EXPECT_TRUE(array.copyFrom(classes).has_value());
  }
  return arrays;
}

// Asks for all gradients but those of data and labels.
inline Executor::Options forTraining(const Symbol& symbol, GradientRequest request = GradientRequest::write) {
  Executor::Options options;
  for (const std::string& name : symbol.arguments())
    if (name != "data" && !name.ends_with("_label")) options.gradients[name] = {{}, request};
  return options;
}

inline std::unique_ptr<Executor> bindTraining(Session& session, const Symbol& symbol,
                                              const ArraysByName& arrays, const Executor::Options& options) {
  auto bound = Executor::bind(session, symbol, arrays, options);
  EXPECT_TRUE(bound.has_value()) << bound.error().message;
  return bound.has_value() ? std::move(*bound) : nullptr;
}

inline void trainingStep(Executor& executor, std::span<const NDArray> heads = {}) {
  const Status forward = executor.forward(Executor::Mode::training);
  ASSERT_TRUE(forward.has_value()) << forward.error().message;
  const Status backward = executor.backward(heads);
  ASSERT_TRUE(backward.has_value()) << backward.error().message;
}

inline GradientValues gradientsOf(const Executor& executor, const Executor::Options& options) {
  GradientValues values;
  for (const auto& [name, gradient] : options.gradients) {
    const auto read = executor.gradient(name).toVector();
    EXPECT_TRUE(read.has_value()) << name << ": " << read.error().message;
    if (read.has_value()) values[name] = *read;
  }
  return values;
}

inline void expectEqual(const GradientValues& a, const GradientValues& b, float tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, values] : a) {
    SCOPED_TRACE(name);
    expectNear({values}, {b.at(name)}, tolerance);
  }
}

inline GradientValues gradientsWith(const std::string& backend, const ProgramSettings& settings,
                                    const Symbol& symbol, const Shape& data,
                                    OutputValues* outputs = nullptr) {
  const auto session = open(backend, settings);
  const auto options = forTraining(symbol);
  const auto executor = bindTraining(*session, symbol, labelled(*session, symbol, data), options);
  if (executor == nullptr) return {};
  trainingStep(*executor);
  if (outputs != nullptr) *outputs = valuesOf(*executor);
  return gradientsOf(*executor, options);
}

inline NDArray madeArray(Result<NDArray> result) {
  EXPECT_TRUE(result.has_value()) << result.error().message;
  return result.has_value() ? *result : NDArray();
}

}  // namespace pitwall::test
