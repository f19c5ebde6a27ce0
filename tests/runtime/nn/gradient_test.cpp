// Every operator's gradient through autograd against central differences of its own forward pass, on every
// backend.
#include <cmath>
#include <functional>

#include "tests/runtime/nn/nn_support.h"

namespace pitwall::test {
namespace {

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

std::vector<float> awayFromZero(std::int64_t count, std::uint32_t seed) {
  return numbers(count, seed, 0.5F, 1.5F);
}

Arrays makeArrays(Session& session, const std::vector<Shape>& shapes, const Values& values) {
  Arrays arrays;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    arrays.push_back(NDArray::fromValues(session, shapes[i], values[i]));
  return arrays;
}

// The sum of the output's elements, each times its entry in `head`.
double weighedOutput(Session& session, const GradientCase& c, const Values& values,
                     const std::vector<float>& head) {
  Arrays arrays = makeArrays(session, c.shapes, values);
  const auto out = must(must(autograd::record([&] { return c.compute(arrays); })).toVector());
  double sum = 0;
  for (std::size_t i = 0; i < out.size(); ++i)
    sum += static_cast<double>(out[i]) * static_cast<double>(head[i]);
  return sum;
}

double difference(Session& session, const GradientCase& c, Values values, std::size_t input,
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

void checkGradients(Session& session, const GradientCase& c) {
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

std::vector<GradientCase> convolutionCases() {
  const auto convolution = [](ConvolutionDesc desc) {
    return [desc](Arrays& a) { return op::convolution(a[0], {a[1], desc.bias ? a[2] : NDArray()}, desc); };
  };
  return {
      {"Convolution 3x3", {{2, 3, 6, 5}, {4, 3, 3, 3}, {4}}, convolution({.kernel = {3, 3}, .channels = 4})},
      {"Convolution no bias",
       {{2, 2, 5, 5}, {3, 2, 2, 2}},
       convolution({.kernel = {2, 2}, .channels = 3, .bias = false})},
      {"Convolution stride, pad",
       {{1, 2, 7, 7}, {2, 2, 3, 3}, {2}},
       convolution({.kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1}, .channels = 2})},
      {"Convolution groups, dilate",
       {{1, 4, 7, 7}, {4, 2, 3, 3}, {4}},
       convolution({.kernel = {3, 3}, .dilate = {2, 2}, .channels = 4, .groups = 2})},
      {"Convolution 16 channels",  // a blocked layout, where the backend has one
       {{2, 16, 5, 5}, {32, 16, 3, 3}, {32}},
       convolution({.kernel = {3, 3}, .channels = 32})},
  };
}

std::vector<GradientCase> layerCases() {
  const auto pooling = [](PoolingDesc desc) { return [desc](Arrays& a) { return op::pooling(a[0], desc); }; };
  const auto activation = [](ActivationType type) {
    return [type](Arrays& a) { return op::activation(a[0], {type}); };
  };
  return {
      {"FullyConnected",
       {{3, 7}, {5, 7}, {5}},
       [](Arrays& a) {
         return op::fullyConnected(a[0], {a[1], a[2]}, {.units = 5});
       }},
      {"FullyConnected 4 axes, no bias",
       {{2, 3, 2, 2}, {4, 12}},
       [](Arrays& a) {
         return op::fullyConnected(a[0], {a[1], {}}, {.units = 4, .bias = false});
       }},
      {"Pooling max", {{2, 3, 6, 6}}, pooling({}), distinctNumbers},
      {"Pooling max, overlapping",
       {{1, 2, 7, 7}},
       pooling({.kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1}}),
       distinctNumbers},
      {"Pooling average", {{2, 3, 6, 6}}, pooling({.type = PoolingType::average})},
      {"Pooling average, pad",
       {{1, 2, 5, 5}},
       pooling({.type = PoolingType::average, .kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1}})},
      {"LRN",
       {{2, 7, 3, 2}},
       [](Arrays& a) { return op::lrn(a[0], {.alpha = 0.8F, .beta = 0.75F, .knorm = 1, .nsize = 3}); }},
      {"LRN on another device",
       {{2, 16, 3, 2}},
       [](Arrays& a) {
         return op::lrn(must(a[0].copyTo(cpu(1))), {.alpha = 0.8F, .beta = 0.75F, .knorm = 1, .nsize = 5});
       }},
      {"Activation relu", {{3, 5}}, activation(ActivationType::relu), distinctNumbers},
      {"Activation sigmoid", {{3, 5}}, activation(ActivationType::sigmoid)},
      {"Activation tanh", {{2, 3, 2, 2}}, activation(ActivationType::tanh)},
      {"Activation softrelu", {{3, 5}}, activation(ActivationType::softrelu)},
      {"Flatten", {{2, 3, 2, 2}}, [](Arrays& a) { return op::flatten(a[0]); }},
      {"Reshape",
       {{2, 6}},
       [](Arrays& a) {
         return op::reshape(a[0], {3, 4});
       }},
      {"Dropout", {{4, 6}}, [](Arrays& a) { return op::dropout(a[0], {0.5F}, 7); }},
  };
}

Result<NDArray> normalised(Arrays& a) {
  Session& session = a[0].session();
  const Shape channels = a[1].shape();
  return op::batchNorm(
      a[0], {a[1], a[2], NDArray::zeros(session, channels), NDArray::zeros(session, channels)}, {});
}

std::vector<GradientCase> arithmeticCases() {
  const std::vector<Shape> two{{2, 5}, {2, 5}}, one{{2, 5}};
  return {
      {"BatchNorm NCHW", {{4, 2, 3, 3}, {2}, {2}}, normalised},
      {"BatchNorm NC", {{8, 3}, {3}, {3}}, normalised},
      {"add", two, [](Arrays& a) { return op::add(a[0], a[1]); }},
      {"subtract", two, [](Arrays& a) { return op::subtract(a[0], a[1]); }},
      {"multiply", two, [](Arrays& a) { return op::multiply(a[0], a[1]); }},
      {"divide", two, [](Arrays& a) { return op::divide(a[0], a[1]); }, awayFromZero},
      {"addScalar", one, [](Arrays& a) { return op::addScalar(a[0], 3); }},
      {"subtractScalar", one, [](Arrays& a) { return op::subtractScalar(a[0], 3); }},
      {"multiplyScalar", one, [](Arrays& a) { return op::multiplyScalar(a[0], 3); }},
      {"divideScalar", one, [](Arrays& a) { return op::divideScalar(a[0], 4); }},
      {"subtractFromScalar", one, [](Arrays& a) { return op::subtractFromScalar(3, a[0]); }},
      {"divideScalarBy", one, [](Arrays& a) { return op::divideScalarBy(3, a[0]); }, awayFromZero},
      {"SoftmaxCrossEntropy",
       {{4, 5}},
       [](Arrays& a) {
         const std::vector<float> labels{0, 3, 4, 1};
         return op::softmaxCrossEntropy(a[0], NDArray::fromValues(a[0].session(), {4}, labels));
       }},
      {"used twice", one, [](Arrays& a) { return op::multiply(a[0], a[0]); }},
      {"used along two ways", two,
       [](Arrays& a) -> Result<NDArray> {
         const NDArray product = must(op::multiply(a[0], a[1]));
         const NDArray squared = must(op::multiply(product, product));
         return op::add(squared, must(op::subtract(a[0], product)));
       }},
  };
}

std::vector<GradientCase> networkCases() {
  return {{"two convolutions, pooling, dense",
           {{2, 1, 12, 12}, {20, 1, 5, 5}, {20}, {24, 20, 3, 3}, {24}, {10, 24}, {10}},
           [](Arrays& a) -> Result<NDArray> {
             NDArray x = must(op::convolution(a[0], {a[1], a[2]}, {.kernel = {5, 5}, .channels = 20}));
             x = must(op::activation(x, {ActivationType::tanh}));
             x = must(op::pooling(x, {.type = PoolingType::average}));
             x = must(op::convolution(x, {a[3], a[4]}, {.kernel = {3, 3}, .channels = 24}));
             x = must(op::pooling(x, {.type = PoolingType::average}));
             return op::fullyConnected(x, {a[5], a[6]}, {.units = 10});
           }}};
}

struct Gradients : ::testing::TestWithParam<std::string> {
  void check(const std::vector<GradientCase>& cases) {
    const auto session = openSession(GetParam());
    ASSERT_NE(session, nullptr);
    for (const GradientCase& c : cases) checkGradients(*session, c);
  }
};

TEST_P(Gradients, Convolution) { check(convolutionCases()); }
TEST_P(Gradients, Layers) { check(layerCases()); }
TEST_P(Gradients, ArithmeticNormalisationAndLoss) { check(arithmeticCases()); }
TEST_P(Gradients, Network) { check(networkCases()); }

INSTANTIATE_TEST_SUITE_P(Backends, Gradients, ::testing::ValuesIn(computingBackends()),
                         [](const auto& param) { return param.param; });

}  // namespace
}  // namespace pitwall::test
