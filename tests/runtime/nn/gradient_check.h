// The gradient of an operator through autograd against central differences of its own forward pass.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "tests/runtime/nn/nn_support.h"

namespace pitwall::test {

using Arrays = std::vector<NDArray>;
using Values = std::vector<std::vector<float>>;

struct GradientCase {
  std::string name;
  std::vector<Shape> shapes;
  std::function<Result<NDArray>(Arrays&)> compute;
  std::function<std::vector<float>(std::int64_t, std::uint32_t)> fill =
      [](std::int64_t n, std::uint32_t seed) { return numbers(n, seed); };
  std::size_t checked = SIZE_MAX;  // number of inputs whose gradients are checked
};

inline std::vector<float> awayFromZero(std::int64_t count, std::uint32_t seed) {
  return numbers(count, seed, 0.5F, 1.5F);
}

inline Arrays makeArrays(Session& session, const std::vector<Shape>& shapes, const Values& values) {
  Arrays arrays;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    arrays.push_back(NDArray::fromValues(session, shapes[i], values[i]));
  return arrays;
}

// The sum of the output's elements, each times its entry in `head`.
inline double weighedOutput(Session& session, const GradientCase& c, const Values& values,
                            const std::vector<float>& head) {
  Arrays arrays = makeArrays(session, c.shapes, values);
  const auto out = must(must(autograd::record([&] { return c.compute(arrays); })).toVector());
  double sum = 0;
  for (std::size_t i = 0; i < out.size(); ++i)
    sum += static_cast<double>(out[i]) * static_cast<double>(head[i]);
  return sum;
}

inline double difference(Session& session, const GradientCase& c, Values values, std::size_t input,
                         std::size_t element, const std::vector<float>& head) {
  constexpr float kStep = 1e-2F;
  float& changed = values[input][element];
  const float original = changed;
  changed = original + kStep;
  const double above = weighedOutput(session, c, values, head);
  const double high = static_cast<double>(changed);
  changed = original - kStep;
  const double below = weighedOutput(session, c, values, head);
  return (above - below) / (high - static_cast<double>(changed));
}

inline void checkGradients(Session& session, const GradientCase& c) {
  Values values;
  for (std::size_t i = 0; i < c.shapes.size(); ++i)
    values.push_back(c.fill(c.shapes[i].elements(), static_cast<std::uint32_t>(i + 1)));
  Arrays arrays = makeArrays(session, c.shapes, values);
  for (NDArray& array : arrays) array.attachGradient();
  const NDArray result = must(autograd::record([&] { return c.compute(arrays); }));
  const std::vector<float> head = numbers(result.shape().elements(), 99, 0.5F, 1.5F);
  must(autograd::backward(
      result, NDArray::fromValues(session, result.shape(), head, MemoryTag::data, result.device())));

  for (std::size_t input = 0; input < std::min(arrays.size(), c.checked); ++input) {
    const auto gradient = must(arrays[input].gradient().toVector());
    double largest = 0;
    for (const float g : gradient) largest = std::max(largest, std::abs(static_cast<double>(g)));
    EXPECT_GT(largest, 0) << c.name << ": the gradient of input " << input << " is zero";
    const std::size_t stride = std::max<std::size_t>(1, gradient.size() / 24);  // enough to see a wrong index
    for (std::size_t i = 0; i < gradient.size(); i += stride) {
      const double expected = difference(session, c, values, input, i, head);
      EXPECT_NEAR(static_cast<double>(gradient[i]), expected, 2e-2 * std::max(1.0, largest))
          << c.name << ": input " << input << " " << c.shapes[input].toString() << ", element " << i;
    }
  }
}

}  // namespace pitwall::test
