// Compares onednn, or the backend that PITWALL_TEST_BACKEND names, with the reference backend.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "runtime/backend/gpu_kernels/channels_last.h"
#include "tests/runtime/backend/harness.h"
#include "tests/runtime/gpu/second_backend.h"
#include "tests/runtime/gpu/short_backend.h"

namespace pitwall::test {

inline constexpr unsigned kConformanceSeed = 20260101;

struct Pair {
  Answer reference, onednn;
};

class ConformanceCheck : public ::testing::Test {
 protected:
  void SetUp() override {
    auto second = openSecondBackend();
    // Without a GPU there is nothing to compare; any other error is one.
    if (!second.has_value() && second.error().code == ErrorCode::unsupported)
      GTEST_SKIP() << second.error().message;
    ASSERT_TRUE(second.has_value()) << second.error().message;
    onednn_ = std::move(second).value();
  }

  // Largest error relative to the largest value: sums of many terms lose digits to cancellation.
  static double errorOf(const std::vector<float>& actual, const std::vector<float>& expected) {
    double error = 0, scale = 1e-3;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      scale = std::max(scale, std::abs(static_cast<double>(expected[i])));
      const double e = std::abs(static_cast<double>(actual[i]) - static_cast<double>(expected[i]));
      error = std::isnan(e) ? INFINITY : std::max(error, e);
    }
    return error / scale;
  }

  // Random values that are not close to 0, where quotients are large.
  Array away(const Shape& shape) {
    const Array array = random(shape);
    for (std::int64_t i = 0; i < shape.elements(); ++i) {
      const float value = array.floats()[i];
      array.floats()[i] = roundedToTestedType(value + (value < 0 ? -0.5F : 0.5F));
    }
    return array;
  }
  // Compares the outputs except workspaces, and returns both results.
  Pair compare(const Call& call, double tolerance = 2e-5) { return compare(call, call, tolerance); }
  // The same where the backends have their own arrays (a workspace, a blocked input).
  Pair compare(const Call& for_reference, const Call& for_onednn, double tolerance = 2e-5) {
    Pair pair{ask(*reference_, for_reference), ask(*onednn_, for_onednn)};
    if (!pair.reference.kernel || !pair.onednn.kernel) return pair;
    for (std::size_t i = 0; i < pair.reference.outputs.size(); ++i) {
      if (pair.reference.outputs[i].spec.dtype == DType::uint8) continue;
      const double error = errorOf(rowMajorValues(*onednn_, pair.onednn.outputs[i]),
                                   rowMajorValues(*reference_, pair.reference.outputs[i]));
      EXPECT_LE(error, std::max(tolerance, toleranceOfTestedType()))
          << for_onednn.toString() << " output " << i << ", seed " << kConformanceSeed << ", "
          << pair.onednn.kernel->implementation();
    }
    return pair;
  }
  // Every pass of a pooling of data in a layout; returns the forward pass.
  Pair comparePooling(const PoolingDesc& desc, const Array& data, const LayoutPtr& layout) {
    const Array arranged = reordered(*onednn_, data, layout);
    compare({.desc = desc, .pass = Pass::inference, .inputs = {data}},
            {.desc = desc, .pass = Pass::inference, .inputs = {arranged}});
    Pair out = compare({.desc = desc, .inputs = {data}}, {.desc = desc, .inputs = {arranged}});
    if (!out.onednn.kernel) return out;
    const auto &theirs = out.reference.outputs, &ours = out.onednn.outputs;
    const Array dout = random(theirs[0].spec.shape);
    compare({.desc = desc, .pass = Pass::backward, .inputs = {data, theirs[0], dout, theirs[1]}},
            {.desc = desc, .pass = Pass::backward, .inputs = {arranged, ours[0], dout, ours[1]}});
    return out;
  }
  struct BatchNormArrays {
    Array data, gamma, beta, mean, variance, dout;
  };
  // Training with data in a layout.
  void compareTrainingBatchNorm(const BatchNormDesc& desc, const BatchNormArrays& a,
                                const LayoutPtr& layout) {
    const Array arranged = reordered(*onednn_, a.data, layout);
    const std::vector<Array> state{{}, {}, {}, a.mean, a.variance};
    const Pair out = compare({.desc = desc, .inputs = {a.data, a.gamma, a.beta}, .outputs = state},
                             {.desc = desc, .inputs = {arranged, a.gamma, a.beta}, .outputs = state});
    if (!out.onednn.kernel) return;
    const Array &mean = out.reference.outputs[1], &variance = out.reference.outputs[2];
    compare({.desc = desc, .pass = Pass::backward, .inputs = {a.data, a.gamma, mean, variance, a.dout}},
            {.desc = desc, .pass = Pass::backward, .inputs = {arranged, a.gamma, mean, variance, a.dout}},
            1e-4);
  }
  Array random(const Shape& shape) { return randomArray(shape, random_); }

  std::mt19937 random_{kConformanceSeed};
  std::unique_ptr<Backend> reference_ = open("reference");
  std::unique_ptr<Backend> onednn_;  // the second backend
};

// A layout that a convolution would produce for data of this shape; null when that is row-major.
inline LayoutPtr blockedLayout(Backend& onednn, const Shape& data, Pass pass = Pass::forward) {
  const TensorSpec specs[] = {{data}, {{data[1], data[1], 1, 1}}};
  auto kernel = onednn.prepare(ConvolutionDesc{.channels = data[1], .bias = false}, pass, specs);
  return kernel.value()->outputs()[0].layout;
}

inline const Shape kElementwiseShapes[] = {{1},           {7},          {3, 5}, {64, 512}, {64, 50, 8, 8},
                                           {2, 17, 5, 3}, {1, 16, 4, 4}};

inline std::vector<LayoutPtr> layoutsFor(Backend& onednn, const Shape& shape) {
  std::vector<LayoutPtr> layouts{nullptr};
  if (shape.rank() != 4) return layouts;
  if (!secondIsOnednn()) {
    layouts.push_back(gpu_kernels::channelsLast(shape));
    return layouts;
  }
  layouts.push_back(blockedLayout(onednn, shape));
  // In inference a convolution may prefer another: its channels last.
  const LayoutPtr inference = blockedLayout(onednn, shape, Pass::inference);
  if (!sameLayout(inference, layouts.back())) layouts.push_back(inference);
  return layouts;
}

}  // namespace pitwall::test
