// The gradients of the operators.
#include "tests/runtime/backend/gradient_check.h"

namespace pitwall::gradient_test {
namespace {

using test::Array;
using test::Call;

class Gradient : public test::GradientCheck {};

TEST_P(Gradient, Convolution) {
  const std::pair<Shape, ConvolutionDesc> cases[] = {
      {{2, 3, 5, 4}, {.kernel = {3, 2}, .stride = {2, 1}, .pad = {1, 0}, .channels = 4}},
      {{1, 4, 5, 5}, {.kernel = {2, 2}, .pad = {1, 1}, .dilate = {2, 2}, .channels = 6, .groups = 2}},
      {{2, 2, 3, 3}, {.channels = 2, .bias = false}},
      {{1, 4, 5, 5}, {.kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1}, .channels = 4, .groups = 4}},
      {{2, 3, 7}, {.kernel = {1, 3}, .stride = {1, 2}, .pad = {0, 1}, .dilate = {1, 2}, .channels = 4}},
      {{1, 4, 6}, {.kernel = {1, 2}, .channels = 4, .groups = 2, .bias = false}},
  };
  for (const auto& [shape, desc] : cases) {
    Shape weight{desc.channels, shape[1] / desc.groups};
    if (shape.rank() == 4) weight.append(desc.kernel[0]);
    weight.append(desc.kernel[1]);
    expectWeightedGradients(desc, shape, weight, desc.bias ? Shape{desc.channels} : Shape());
  }
}

TEST_P(Gradient, FullyConnected) {
  for (const Shape& shape : {Shape{3, 5}, Shape{2, 3, 2, 2}})
    expectWeightedGradients(FullyConnectedDesc{.units = 4}, shape, {4, shape.elements() / shape[0]}, {4});
}

TEST_P(Gradient, Pooling) {
  for (const PoolingType type : {PoolingType::max, PoolingType::average}) {
    const PoolingDesc desc{.type = type, .kernel = {3, 2}, .stride = {2, 1}, .pad = {1, 1}};
    const Array data = spread({2, 3, 5, 4});
    const Call forward{.desc = desc, .inputs = {data}};
    const test::Answer out = ask(*backend_, forward);
    const Array dout = random(out.outputs.at(0).spec.shape);
    expectGradient(
        forward, 0, dout,
        {.desc = desc, .pass = Pass::backward, .inputs = {data, out.outputs[0], dout, out.outputs[1]}});
  }
}

TEST_P(Gradient, Activation) {
  for (const auto type :
       {ActivationType::relu, ActivationType::sigmoid, ActivationType::tanh, ActivationType::softrelu}) {
    const ActivationDesc desc{type};
    const Array data = spread({3, 11}), dout = random({3, 11});
    const Call forward{.desc = desc, .inputs = {data}};
    const Array out = ask(*backend_, forward).outputs.at(0);
    expectGradient(forward, 0, dout, {.desc = desc, .pass = Pass::backward, .inputs = {data, out, dout}});
  }
}

TEST_P(Gradient, Lrn) {
  for (const std::int64_t nsize : {1, 3, 5}) {
    const LrnDesc desc{.alpha = 0.8F, .beta = 0.75F, .knorm = 1, .nsize = nsize};
    const Array data = random({2, 7, 3, 2}), dout = random({2, 7, 3, 2});
    const Call forward{.desc = desc, .inputs = {data}};
    const Array workspace = ask(*backend_, forward).outputs.at(1);
    expectGradient(forward, 0, dout,
                   {.desc = desc, .pass = Pass::backward, .inputs = {data, dout, workspace}});
  }
}

TEST_P(Gradient, BatchNorm) {
  for (const Shape& shape : {Shape{3, 2, 3, 2}, Shape{7, 3}}) {
    const BatchNormDesc desc{.epsilon = 1e-2F};
    const Shape channels{shape[1]};
    const Array data = random(shape), gamma = random(channels), dout = random(shape);
    const Array running = random(channels);
    const Call forward{
        .desc = desc, .inputs = {data, gamma, random(channels)}, .outputs = {{}, {}, {}, running, running}};
    const test::Answer out = ask(*backend_, forward);
    const Call backward{.desc = desc,
                        .pass = Pass::backward,
                        .inputs = {data, gamma, out.outputs.at(1), out.outputs.at(2), dout}};
    for (std::size_t i = 0; i < 3; ++i) expectGradient(forward, i, dout, backward, i);
  }
}

TEST_P(Gradient, Dropout) {
  const DropoutDesc desc{0.4F};
  const Array data = random({5, 7}), dout = random({5, 7});
  const Call forward{.desc = desc, .inputs = {data}, .seed = 5};
  const Array mask = ask(*backend_, forward).outputs.at(1);
  expectGradient(forward, 0, dout, {.desc = desc, .pass = Pass::backward, .inputs = {dout, mask}});
}

TEST_P(Gradient, SoftmaxCrossEntropy) {
  const Array data = random({4, 5}), label = test::makeArray({4}, {0, 4, 2, 2}), dloss = random({4});
  const Call forward{.desc = SoftmaxCrossEntropyDesc{}, .inputs = {data, label}};
  const Array probability = ask(*backend_, forward).outputs.at(1);
  expectGradient(
      forward, 0, dloss,
      {.desc = SoftmaxCrossEntropyDesc{}, .pass = Pass::backward, .inputs = {probability, label, dloss}});
}

INSTANTIATE_TEST_SUITE_P(Backends, Gradient, ::testing::Values("reference", "onednn"),
                         [](const auto& backend) { return std::string(backend.param); });

}  // namespace
}  // namespace pitwall::gradient_test
