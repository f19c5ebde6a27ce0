// Every operator, every pass: onednn compared with the reference backend, over a table of shapes.
#include <fmt/format.h>

#include "tests/runtime/backend/conformance_check.h"

namespace pitwall::conformance_test {
namespace {

using test::Array;
using test::blockedLayout;
using test::Call;
using test::kElementwiseShapes;
using test::layoutsFor;
using test::Pair;
using test::roundedToTestedType;

class Conformance : public test::ConformanceCheck {};

// --- Convolution ---

struct ConvolutionCase {
  Shape data;
  ConvolutionDesc desc;
};

const ConvolutionCase kConvolutions[] = {
    {{64, 1, 28, 28}, {.kernel = {5, 5}, .channels = 20}},  // LeNet, first
    {{8, 20, 12, 12}, {.kernel = {5, 5}, .channels = 50}},  // LeNet, second
    {{1, 20, 12, 12}, {.kernel = {5, 5}, .channels = 50}},
    {{1, 1, 1, 1}, {.channels = 1}},
    {{2, 3, 7, 5}, {.kernel = {3, 2}, .stride = {2, 1}, .pad = {1, 0}, .channels = 4, .bias = false}},
    {{3, 16, 9, 9}, {.kernel = {1, 1}, .channels = 32}},
    {{2, 16, 9, 9}, {.kernel = {1, 1}, .stride = {2, 2}, .channels = 17, .bias = false}},
    {{2, 32, 11, 13}, {.kernel = {3, 3}, .pad = {1, 1}, .channels = 48}},
    {{2, 5, 13, 11}, {.kernel = {3, 3}, .pad = {2, 2}, .dilate = {2, 2}, .channels = 7}},
    {{2, 12, 8, 8}, {.kernel = {3, 3}, .pad = {1, 1}, .channels = 8, .groups = 4}},
    {{2, 32, 8, 8}, {.kernel = {3, 3}, .pad = {1, 1}, .channels = 32, .groups = 2, .bias = false}},
    {{2, 19, 10, 10}, {.kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1}, .channels = 19, .groups = 19}},
    {{2, 3, 16, 16}, {.kernel = {7, 7}, .stride = {4, 3}, .pad = {3, 2}, .channels = 16}},
    {{64, 3, 6, 6}, {.kernel = {6, 6}, .channels = 10}},  // the whole image
};

TEST_F(Conformance, Convolution) {
  for (const ConvolutionCase& c : kConvolutions) {
    const Array data = random(c.data);
    const Array weight =
        random({c.desc.channels, c.data[1] / c.desc.groups, c.desc.kernel[0], c.desc.kernel[1]});
    const Array bias = random({c.desc.channels});
    Call forward{.desc = c.desc, .inputs = {data, weight}};
    if (c.desc.bias) forward.inputs.push_back(bias);
    const Pair out = compare(forward);
    forward.pass = Pass::inference;
    compare(forward);
    if (!out.onednn.kernel) continue;

    const Array dout = random(out.reference.outputs[0].spec.shape);
    compare({.desc = c.desc, .pass = Pass::backwardData, .inputs = {dout, weight}, .like = &data.spec});
    compare({.desc = c.desc, .pass = Pass::backwardWeights, .inputs = {data, dout}, .like = &weight.spec});
    // As in a training step: the weight and its gradient are in the layout of the forward pass.
    const TensorSpec& kept = out.onednn.kernel->inputs()[1];
    const Array kept_weight = reordered(*onednn_, weight, kept.layout);
    compare({.desc = c.desc, .pass = Pass::backwardData, .inputs = {dout, weight}, .like = &data.spec},
            {.desc = c.desc, .pass = Pass::backwardData, .inputs = {dout, kept_weight}, .like = &data.spec});
    const Pair dweight =
        compare({.desc = c.desc, .pass = Pass::backwardWeights, .inputs = {data, dout}},
                {.desc = c.desc, .pass = Pass::backwardWeights, .inputs = {data, dout}, .like = &kept});
    if (dweight.onednn.kernel) {
      EXPECT_TRUE(sameLayout(dweight.onednn.kernel->outputs()[0].layout, kept.layout)) << forward.toString();
    }
  }
}

// --- FullyConnected ---

struct FullyConnectedCase {
  Shape data;
  FullyConnectedDesc desc;
};

const FullyConnectedCase kFullyConnected[] = {
    {{64, 50, 4, 4}, {.units = 512}},  // LeNet, first
    {{64, 512}, {.units = 10}},        // LeNet, second
    {{1, 50, 4, 4}, {.units = 512}},
    {{1, 512}, {.units = 10, .bias = false}},
    {{1, 1}, {.units = 1}},
    {{3, 7}, {.units = 5}},
    {{64, 33}, {.units = 17, .bias = false}},
    {{5, 3, 4, 5}, {.units = 6}},
    {{7, 16, 3, 3}, {.units = 64}},
    {{64, 128}, {.units = 128}},
};

TEST_F(Conformance, FullyConnected) {
  for (const FullyConnectedCase& c : kFullyConnected) {
    const Array data = random(c.data);
    const Array weight = random({c.desc.units, c.data.elements() / c.data[0]});
    const Array dout = random({c.data[0], c.desc.units});
    Call forward{.desc = c.desc, .inputs = {data, weight}};
    if (c.desc.bias) forward.inputs.push_back(random({c.desc.units}));
    const Pair out = compare(forward);
    forward.pass = Pass::inference;
    compare(forward);
    if (!out.onednn.kernel) continue;

    const TensorSpec& kept = out.onednn.kernel->inputs()[1];
    const Array kept_weight = reordered(*onednn_, weight, kept.layout);
    compare({.desc = c.desc, .pass = Pass::backwardData, .inputs = {dout, weight}, .like = &data.spec});
    compare({.desc = c.desc, .pass = Pass::backwardData, .inputs = {dout, weight}, .like = &data.spec},
            {.desc = c.desc, .pass = Pass::backwardData, .inputs = {dout, kept_weight}, .like = &data.spec});
    compare({.desc = c.desc, .pass = Pass::backwardWeights, .inputs = {data, dout}, .like = &weight.spec});
    const Pair dweight =
        compare({.desc = c.desc, .pass = Pass::backwardWeights, .inputs = {data, dout}},
                {.desc = c.desc, .pass = Pass::backwardWeights, .inputs = {data, dout}, .like = &kept});
    if (dweight.onednn.kernel) {
      EXPECT_TRUE(sameLayout(dweight.onednn.kernel->outputs()[0].layout, kept.layout)) << forward.toString();
    }
  }
}

// --- Pooling ---

struct PoolingCase {
  Shape data;
  PoolingDesc desc;
};

const PoolingCase kPoolings[] = {
    {{64, 20, 24, 24}, {}},  // LeNet
    {{64, 50, 8, 8}, {}},
    {{1, 1, 2, 2}, {}},
    {{1, 1, 1, 1}, {.kernel = {1, 1}, .stride = {1, 1}}},
    {{2, 3, 7, 5}, {.kernel = {3, 2}, .stride = {2, 1}}},
    {{2, 16, 9, 11}, {.kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1}}},
    {{3, 17, 10, 10}, {.kernel = {3, 3}, .stride = {1, 1}, .pad = {1, 1}}},
    {{2, 32, 7, 7}, {.kernel = {7, 7}, .stride = {1, 1}}},  // global
    {{2, 4, 9, 9}, {.kernel = {2, 2}, .stride = {3, 3}}},   // leaves elements out
};

TEST_F(Conformance, Pooling) {
  for (PoolingCase c : kPoolings) {
    for (const PoolingType type : {PoolingType::max, PoolingType::average}) {
      c.desc.type = type;
      const Array data = random(c.data);
      for (const LayoutPtr& layout : {LayoutPtr(), blockedLayout(*onednn_, c.data)}) {
        const Pair out = comparePooling(c.desc, data, layout);
        if (!out.onednn.kernel) continue;
        EXPECT_TRUE(sameLayout(out.onednn.kernel->inputs()[0].layout, layout))
            << "pooling must take what it gets";
      }
    }
  }
}

// --- Elementwise and normalisation: row-major and blocked ---

TEST_F(Conformance, Activation) {
  for (const Shape& shape : kElementwiseShapes) {
    for (const auto type :
         {ActivationType::relu, ActivationType::sigmoid, ActivationType::tanh, ActivationType::softrelu}) {
      const ActivationDesc desc{type};
      const Array data = random(shape), dout = random(shape);
      for (const LayoutPtr& layout : layoutsFor(*onednn_, shape)) {
        const Array arranged = reordered(*onednn_, data, layout);
        compare({.desc = desc, .pass = Pass::inference, .inputs = {data}},
                {.desc = desc, .pass = Pass::inference, .inputs = {arranged}});
        const Pair out = compare({.desc = desc, .inputs = {data}}, {.desc = desc, .inputs = {arranged}});
        if (!out.onednn.kernel) continue;
        EXPECT_TRUE(sameLayout(out.onednn.kernel->outputs()[0].layout, layout))
            << "activation keeps the layout";
        compare({.desc = desc, .pass = Pass::backward, .inputs = {data, out.reference.outputs[0], dout}},
                {.desc = desc, .pass = Pass::backward, .inputs = {arranged, out.onednn.outputs[0], dout}});
      }
    }
  }
}

TEST_F(Conformance, ActivationOfLargeValues) {
  const Array data = test::makeArray({6}, {-200, -90, -1e-6F, 1e-6F, 90, 200});
  for (const auto type :
       {ActivationType::relu, ActivationType::sigmoid, ActivationType::tanh, ActivationType::softrelu}) {
    compare({.desc = ActivationDesc{type}, .inputs = {data}});
  }
}

TEST_F(Conformance, Lrn) {
  for (const Shape& shape : {Shape{64, 20, 12, 12}, Shape{2, 17, 5, 3}, Shape{4, 16, 4, 4},
                             Shape{2, 48, 9, 9}, Shape{1, 1, 1, 1}}) {
    for (const LrnDesc& desc : {LrnDesc{}, LrnDesc{.alpha = 1, .beta = 0.75F, .knorm = 1, .nsize = 3},
                                LrnDesc{.alpha = 0.5F, .beta = 0.5F, .knorm = 2, .nsize = 7}}) {
      const Array data = random(shape), dout = random(shape);
      for (const LayoutPtr& layout : layoutsFor(*onednn_, shape)) {
        const Array arranged = reordered(*onednn_, data, layout);
        compare({.desc = desc, .pass = Pass::inference, .inputs = {data}},
                {.desc = desc, .pass = Pass::inference, .inputs = {arranged}});
        const Pair out = compare({.desc = desc, .inputs = {data}}, {.desc = desc, .inputs = {arranged}});
        if (!out.onednn.kernel) continue;
        compare({.desc = desc, .pass = Pass::backward, .inputs = {data, dout, out.reference.outputs[1]}},
                {.desc = desc, .pass = Pass::backward, .inputs = {arranged, dout, out.onednn.outputs[1]}});
      }
    }
  }
}

TEST_F(Conformance, LrnFollowsItsFormula) {
  // Channels 1, 2, 3 and windows of three: sums of squares 5, 14, 13.
  const LrnDesc desc{.alpha = 3, .beta = 0.5F, .knorm = 2, .nsize = 3};
  const Pair out = compare({.desc = desc, .inputs = {test::makeArray({1, 3, 1, 1}, {1, 2, 3})}});
  const float* values = out.reference.outputs.at(0).floats();
  EXPECT_NEAR(values[0], 1 / std::sqrt(7.0F), 1e-6F);
  EXPECT_NEAR(values[1], 2 / std::sqrt(16.0F), 1e-6F);
  EXPECT_NEAR(values[2], 3 / std::sqrt(15.0F), 1e-6F);
}

TEST_F(Conformance, BatchNorm) {
  for (const Shape& shape :
       {Shape{64, 50, 8, 8}, Shape{2, 17, 5, 3}, Shape{4, 16, 4, 4}, Shape{64, 33}, Shape{2, 1}}) {
    const BatchNormDesc desc{.epsilon = 1e-3F, .momentum = 0.75F};
    const Shape channels{shape[1]};
    const Array data = random(shape), dout = random(shape), gamma = random(channels), beta = random(channels);
    const Array mean = random(channels);
    Array variance = random(channels);
    for (std::int64_t c = 0; c < shape[1]; ++c) variance.floats()[c] = std::abs(variance.floats()[c]) + 0.1F;
    for (const LayoutPtr& layout : layoutsFor(*onednn_, shape)) {
      const Array arranged = reordered(*onednn_, data, layout);
      compare({.desc = desc, .pass = Pass::inference, .inputs = {data, gamma, beta, mean, variance}},
              {.desc = desc, .pass = Pass::inference, .inputs = {arranged, gamma, beta, mean, variance}});
      compareTrainingBatchNorm(desc, {data, gamma, beta, mean, variance, dout}, layout);
    }
  }
}

TEST_F(Conformance, BinaryAndLinear) {
  for (const Shape& shape : kElementwiseShapes) {
    const Array a = random(shape);
    Array b = random(shape);
    for (std::int64_t i = 0; i < shape.elements(); ++i) b.floats()[i] += b.floats()[i] < 0 ? -0.5F : 0.5F;
    for (const LayoutPtr& layout : layoutsFor(*onednn_, shape)) {
      const Array arranged = reordered(*onednn_, a, layout);
      for (const auto type :
           {BinaryType::add, BinaryType::subtract, BinaryType::multiply, BinaryType::divide}) {
        const BinaryDesc desc{type};
        compare({.desc = desc, .inputs = {a, b}}, {.desc = desc, .inputs = {arranged, b}});
        compare({.desc = desc, .inputs = {a, b}},
                {.desc = desc, .inputs = {arranged, reordered(*onednn_, b, layout)}});
      }
      for (const LinearDesc& desc : {LinearDesc{2.5F, 0}, LinearDesc{-0.5F, 3}}) {
        compare({.desc = desc, .inputs = {a}}, {.desc = desc, .inputs = {arranged}});
      }
    }
  }
}

TEST_F(Conformance, Dropout) {
  for (const Shape& shape : kElementwiseShapes) {
    const DropoutDesc desc{0.3F};
    const Array data = random(shape), dout = random(shape);
    const Pair out = compare({.desc = desc, .inputs = {data}, .seed = 77});
    if (!out.onednn.kernel) continue;
    compare({.desc = desc, .pass = Pass::backward, .inputs = {dout, out.reference.outputs[1]}});
  }
}

TEST_F(Conformance, SoftmaxCrossEntropy) {
  for (const Shape& shape : {Shape{64, 10}, Shape{1, 1}, Shape{3, 7}, Shape{1, 1000}, Shape{300, 1000}}) {
    Array data = random(shape);
    for (std::int64_t i = 0; i < shape.elements(); ++i)
      data.floats()[i] = roundedToTestedType(data.floats()[i] * 20);
    std::vector<float> labels;
    for (std::int64_t n = 0; n < shape[0]; ++n)
      labels.push_back(static_cast<float>(random_() % static_cast<unsigned>(shape[1])));
    const Array label = test::makeArray({shape[0]}, labels), dloss = random({shape[0]});
    const Pair out = compare({.desc = SoftmaxCrossEntropyDesc{}, .inputs = {data, label}});
    compare({.desc = SoftmaxCrossEntropyDesc{}, .pass = Pass::inference, .inputs = {data, label}});
    if (!out.onednn.kernel) continue;
    compare({.desc = SoftmaxCrossEntropyDesc{},
             .pass = Pass::backward,
             .inputs = {out.reference.outputs[1], label, dloss}});
  }
}

TEST_F(Conformance, Sgd) {
  const std::vector<Shape> shapes{{20, 1, 5, 5}, {20}, {512, 800}, {1}, {10, 512}, {10}};
  for (const SgdDesc desc :
       {SgdDesc{}, SgdDesc{.momentum = 0.9F}, SgdDesc{.momentum = 0.9F, .weight_decay = 0.01F}}) {
    Call call{.desc = desc, .rate = 0.1F, .rescale = 1.0F / 64};
    for (const Shape& shape : shapes) call.inputs.push_back(random(shape));
    for (const Shape& shape : shapes) call.outputs.push_back(random(shape));
    if (desc.momentum != 0) {
      for (const Shape& shape : shapes) call.outputs.push_back(random(shape));
    }
    compare(call);
  }
}

}  // namespace
}  // namespace pitwall::conformance_test
