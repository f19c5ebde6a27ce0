// The gradient of an operator against central differences of its forward pass, on each backend. The loss is a random
// projection of the output, summed in double.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/runtime/backend/harness.h"

namespace pitwall::test {

inline constexpr unsigned kGradientSeed = 4711;
inline constexpr float kGradientStep = 0.01F;

class GradientCheck : public ::testing::TestWithParam<const char*> {
 protected:
  // Distinct multiples of 0.05, none closer to 0 than 0.025: a step of 0.01 crosses no kink of relu or max.
  Array spread(const Shape& shape) {
    const auto n = static_cast<std::size_t>(shape.elements());
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    std::vector<float> values;
    for (const int i : order)
      values.push_back((static_cast<float>(i) - static_cast<float>(n / 2) + 0.5F) * 0.05F);
    return makeArray(shape, values);
  }
  Array random(const Shape& shape) { return randomArray(shape, random_); }

  double loss(const Call& call, const Array& projection) {
    const Array out = ask(*backend_, call).outputs.at(0);
    const std::vector<float> values = rowMajorValues(*backend_, out);
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      sum += static_cast<double>(values[i]) * static_cast<double>(projection.floats()[i]);
    }
    return sum;
  }

  // `analytic` is output `output` of a backward pass; differences are taken of input `index` of `forward`.
  void expectGradient(const Call& forward, std::size_t index, const Array& projection, const Call& backward,
                      std::size_t output = 0) {
    const Answer answer = ask(*backend_, backward);
    if (!answer.kernel) return;
    const std::vector<float> analytic = rowMajorValues(*backend_, answer.outputs.at(output));
    ASSERT_EQ(static_cast<std::int64_t>(analytic.size()), forward.inputs[index].spec.shape.elements());
    double largest = 0, scale = 0.1;
    for (std::size_t i = 0; i < analytic.size(); ++i) {
      const double numeric = difference(forward, index, i, projection);
      scale = std::max(scale, std::abs(numeric));
      const double error = std::abs(numeric - static_cast<double>(analytic[i]));
      largest = std::isnan(error) ? INFINITY : std::max(largest, error);
    }
    EXPECT_LE(largest / scale, 2e-3) << backward.toString() << " output " << output << " on " << GetParam()
                                     << ", seed " << kGradientSeed;
  }

  // All gradients of an operator with a weight and, where `bias` is not empty, a bias.
  void expectWeightedGradients(const OperatorKindDesc& desc, const Shape& data_shape,
                               const Shape& weight_shape, const Shape& bias) {
    const Array data = random(data_shape), weight = random(weight_shape);
    Call forward{.desc = desc, .inputs = {data, weight}};
    if (bias.rank() > 0) forward.inputs.push_back(random(bias));
    const Array dout = random(ask(*backend_, forward).outputs.at(0).spec.shape);
    expectGradient(forward, 0, dout,
                   {.desc = desc, .pass = Pass::backwardData, .inputs = {dout, weight}, .like = &data.spec});
    const Call weights{
        .desc = desc, .pass = Pass::backwardWeights, .inputs = {data, dout}, .like = &weight.spec};
    for (std::size_t i = 1; i < forward.inputs.size(); ++i) expectGradient(forward, i, dout, weights, i - 1);
  }

  std::mt19937 random_{kGradientSeed};
  std::unique_ptr<Backend> backend_ = open(GetParam());

 private:
  double difference(Call call, std::size_t index, std::size_t element, const Array& projection) {
    call.inputs[index] = clone(call.inputs[index]);
    float& x = call.inputs[index].floats()[element];
    const float above = x + kGradientStep, below = x - kGradientStep;
    x = above;
    const double high = loss(call, projection);
    x = below;
    return (high - loss(call, projection)) / (static_cast<double>(above) - static_cast<double>(below));
  }
};

}  // namespace pitwall::test
