// Every operator's gradient through autograd against central differences of its own forward pass, on every
// backend.
#include "tests/runtime/nn/gradient_check.h"

namespace pitwall::test::gradient_test {
namespace {

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
      {"BatchNorm NCW", {{4, 2, 5}, {2}, {2}}, normalised},
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
}  // namespace pitwall::test::gradient_test
