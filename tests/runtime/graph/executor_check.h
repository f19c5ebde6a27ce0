// What tests of executors share: sessions, nodes, arrays with random contents.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "runtime/executor.h"

namespace pitwall::test {

using ProgramSettings = std::vector<std::pair<std::string, std::string>>;
using ArraysByName = std::map<std::string, NDArray>;
using OutputValues = std::vector<std::vector<float>>;

// Nothing is measured unless the test asks for it: plans and bits are then the same in every session.
inline std::unique_ptr<Session> open(const std::string& backend, ProgramSettings settings = {},
                                     const std::string& trace = "") {
  const auto isMeasured = [](const auto& setting) { return setting.first == "PITWALL_MEASURE_KERNELS"; };
  if (std::none_of(settings.begin(), settings.end(), isMeasured))
    settings.emplace_back("PITWALL_MEASURE_KERNELS", "0");
  auto session = Session::open({.trace_path = trace, .backend = backend, .settings = std::move(settings)});
  EXPECT_TRUE(session.has_value()) << session.error().message;
  return std::move(*session);
}

inline Symbol node(const char* op, const std::string& name, const std::vector<Symbol>& inputs,
                   Attributes attributes = {}) {
  auto made = Symbol::make(op, name, inputs, std::move(attributes));
  EXPECT_TRUE(made.has_value()) << made.error().message;
  return made.has_value() ? *made : Symbol();
}

inline Symbol convolution(const std::string& name, const Symbol& data, int channels, bool bias = false) {
  return node("Convolution", name, {data},
              {{"kernel", "(3, 3)"},
               {"pad", "(1, 1)"},
               {"num_filter", std::to_string(channels)},
               {"no_bias", bias ? "False" : "True"}});
}

inline Symbol relu(const std::string& name, const Symbol& data) {
  return node("Activation", name, {data}, {{"act_type", "relu"}});
}

// All that is fused: a residual block of either version, then a branch, and layers with views.
inline Symbol network() {
  Symbol data = Symbol::variable("data");
  data = relu("relu1", node("BatchNorm", "bn1", {convolution("conv1", data, 16)}, {{"fix_gamma", "False"}}));
  const Symbol inner = node("BatchNorm", "bn2", {convolution("conv2", data, 16, true)});
  data = relu("relu2", node("elemwise_add", "sum1", {inner, data}));
  const Symbol before =
      relu("relu3", node("BatchNorm", "bn3", {data}, {{"fix_gamma", "False"}, {"eps", "2e-05"}}));
  data = node("elemwise_add", "sum2", {convolution("conv3", before, 16), data});
  const Symbol pooled =
      node("Pooling", "pool1", {data}, {{"kernel", "(2, 2)"}, {"stride", "(2, 2)"}, {"pool_type", "max"}});
  const Symbol wide = relu("relu4", convolution("conv4", pooled, 24, true));
  data = node("Concat", "concat1", {wide, pooled}, {{"num_args", "2"}});
  data =
      node("Pooling", "pool2", {data}, {{"global_pool", "True"}, {"kernel", "(1, 1)"}, {"pool_type", "avg"}});
  data =
      relu("relu5", node("FullyConnected", "fc1", {node("Flatten", "flat", {data})}, {{"num_hidden", "12"}}));
  return node("SoftmaxOutput", "softmax", {node("FullyConnected", "fc2", {data}, {{"num_hidden", "5"}})});
}

inline ArraysByName arraysOf(Session& session, const Symbol& symbol, const Shape& data) {
  const auto shapes = symbol.inferShapes({{"data", data}});
  EXPECT_TRUE(shapes.has_value()) << shapes.error().message;
  std::mt19937 random(7);
  ArraysByName arrays;
  const auto add = [&](const std::vector<std::string>& names, const std::vector<Shape>& of) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      // Weights that keep the size of values from layer to layer.
      const bool is_weight = names[i].ends_with("_weight");
      const float most =
          is_weight ? std::sqrt(3.0F * static_cast<float>(of[i][0]) / static_cast<float>(of[i].elements()))
                    : 1;
      std::uniform_real_distribution<float> values(names[i].ends_with("_var") ? 0.5F : -most, most);
      std::vector<float> contents(static_cast<std::size_t>(of[i].elements()));
      for (float& value : contents) value = values(random);
      arrays[names[i]] = NDArray::fromValues(session, of[i], contents);
    }
  };
  add(symbol.arguments(), shapes->arguments);
  add(symbol.auxiliaryStates(), shapes->auxiliary_states);
  return arrays;
}

inline OutputValues valuesOf(const Executor& executor) {
  OutputValues values;
  for (const NDArray& output : executor.outputs()) {
    const auto read = output.toVector();
    EXPECT_TRUE(read.has_value()) << read.error().message;
    values.push_back(read.has_value() ? *read : std::vector<float>());
  }
  return values;
}

inline void expectNear(const OutputValues& a, const OutputValues& b, float tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].size(), b[i].size());
    for (std::size_t k = 0; k < a[i].size(); ++k)
      ASSERT_NEAR(a[i][k], b[i][k], tolerance * (1 + std::abs(b[i][k])))
          << "output " << i << " element " << k;
  }
}

}  // namespace pitwall::test
