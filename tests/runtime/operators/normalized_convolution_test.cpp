// A BatchNorm and the convolution of its result, in pieces of the batch and whole.
#include "tests/runtime/operators/operator_check.h"

namespace pitwall::test::normalized_convolution_test {
namespace {

using testing::HasSubstr;
using Type = FusedActivation::Type;

struct Case {
  Shape data;
  ConvolutionDesc convolution;
  BatchNormDesc norm = {};
};

class NormalizedConvolution : public ConformanceCheck {
 protected:
  void SetUp() override {
    ConformanceCheck::SetUp();
    if (testedShortType()) GTEST_SKIP() << "the operator computes float32 alone";
    if (onednn_ && onednn_->name() != "onednn") GTEST_SKIP() << "only backends of CPUs have this pass";
  }

  Call call(const Case& c) {
    const ConvolutionDesc& d = c.convolution;
    const Shape channels{c.data[1]};
    Call call{
        .desc = NormalizedConvolutionDesc{c.norm, d},
        .pass = Pass::inference,
        .inputs = {random(c.data), random({d.channels, c.data[1] / d.groups, d.kernel[0], d.kernel[1]})}};
    if (d.bias) call.inputs.push_back(random({d.channels}));
    if (d.adds) call.inputs.push_back(random(outOf(c)));
    Array variance = away(channels);
    for (std::int64_t i = 0; i < channels[0]; ++i) variance.floats()[i] = std::abs(variance.floats()[i]);
    for (const Array& each : {random(channels), random(channels), random(channels), variance})
      call.inputs.push_back(each);
    return call;
  }
  static Shape outOf(const Case& c) {
    const ConvolutionDesc& d = c.convolution;
    const auto extent = [&](int axis, std::size_t i) {
      return (c.data[axis] + 2 * d.pad[i] - d.kernel[i]) / d.stride[i] + 1;
    };
    return {c.data[0], d.channels, extent(2, 0), extent(3, 1)};
  }
};

// More than a piece, whose images are a divisor of the batch: 3 of 6, 1 of 5, 1 of 2 that alone are too large.
TEST_F(NormalizedConvolution, BackendsAgreeInPieces) {
  const Case cases[] = {
      {{6, 16, 140, 140}, {.channels = 8}, {.relu = true}},
      {{5, 17, 140, 140},
       {.stride = {2, 2}, .channels = 5, .bias = false},
       {.fix_gamma = true, .relu = true}},
      {{2, 3, 700, 600}, {.kernel = {3, 3}, .pad = {1, 1}, .channels = 4}, {}},
      {{4, 16, 130, 130},
       {.kernel = {3, 3},
        .pad = {1, 1},
        .channels = 16,
        .groups = 16,
        .adds = true,
        .activation = {Type::relu}},
       {.relu = true}},
      {{4, 32, 100, 100},
       {.channels = 16, .bias = false, .adds = true, .activation = {Type::clip, -0.25F, 0.5F}},
       {.epsilon = 1e-3F}},
  };
  for (const Case& c : cases) {
    ASSERT_GT(c.data.elements() * 4, NormalizedConvolutionDesc::kPieceBytes);
    const Pair out = compare(call(c));
    ASSERT_TRUE(out.onednn.kernel);
    EXPECT_LT(out.onednn.kernel->workspaceBytes(), c.data.elements() * 4) << "not the whole of the result";
  }
}

TEST_F(NormalizedConvolution, BackendsAgreeOnSmallBatches) {
  for (const bool relu : {false, true}) {
    compare(call({{2, 16, 9, 9}, {.kernel = {3, 3}, .pad = {1, 1}, .channels = 32}, {.relu = relu}}));
    compare(call({{1, 19, 8, 8}, {.channels = 7, .bias = false, .adds = true}, {.relu = relu}}));
  }
}

// What pads the images of the convolution is 0, not what a BatchNorm makes of 0.
TEST_F(NormalizedConvolution, PaddingIsZero) {
  const NormalizedConvolutionDesc desc{{.epsilon = 0},
                                       {.kernel = {1, 3}, .pad = {0, 1}, .channels = 1, .bias = false}};
  const Call by_hand{
      .desc = desc,
      .pass = Pass::inference,
      .inputs = {makeArray({1, 1, 1, 3}, {1, 2, 3}), makeArray({1, 1, 1, 3}, {1, 1, 1}), makeArray({1}, {2}),
                 makeArray({1}, {10}), makeArray({1}, {1}), makeArray({1}, {4})}};
  const Pair out = compare(by_hand);  // 10, 11, 12 beside zeros
  EXPECT_EQ(rowMajorValues(*reference_, out.reference.outputs[0]), (std::vector<float>{21, 33, 23}));
}

// The addend at the address of the output is not copied, and the result the same.
TEST_F(NormalizedConvolution, AddsInPlace) {
  const Call adding =
      call({{4, 32, 100, 100}, {.channels = 16, .bias = false, .adds = true}, {.relu = true}});
  for (Backend* backend : {reference_.get(), onednn_.get()}) {
    const Answer apart = ask(*backend, adding);
    ASSERT_TRUE(apart.kernel);
    std::vector<Array> inputs;
    std::vector<const void*> from;
    for (std::size_t i = 0; i < adding.inputs.size(); ++i) {
      inputs.push_back(clone(reordered(*backend, adding.inputs[i], apart.kernel->inputs()[i].layout)));
      from.push_back(inputs[i].bytes.get());
    }
    void* to[] = {inputs[2].bytes.get()};
    const auto workspace = makeWorkspace(*apart.kernel);
    ASSERT_TRUE(apart.kernel->run({.inputs = from, .outputs = to, .context = {.workspace = workspace.get()}})
                    .has_value());
    EXPECT_EQ(rowMajorValues(*backend, inputs[2]), rowMajorValues(*backend, apart.outputs[0]));
  }
}

class ShiftGradientKernel : public ConformanceCheck {
 protected:
  void SetUp() override {
    ConformanceCheck::SetUp();
    if (testedShortType()) GTEST_SKIP() << "the operator computes float32 alone";
  }
};

// Strides that do not reach the last elements, windows wider than their stride and than the data, images without padding.
TEST_F(ShiftGradientKernel, BackendsAgreeInEveryLayout) {
  const Case cases[] = {
      {{2, 3, 23, 18}, {.kernel = {7, 7}, .stride = {2, 2}, .pad = {3, 3}, .channels = 24, .bias = false}},
      {{3, 5, 8, 9}, {.kernel = {3, 2}, .stride = {3, 1}, .pad = {0, 1}, .channels = 16}},
      {{1, 16, 7, 5}, {.kernel = {3, 3}, .pad = {4, 4}, .dilate = {2, 3}, .channels = 70, .bias = false}},
      {{2, 4, 3, 3}, {.kernel = {5, 5}, .pad = {2, 2}, .channels = 1, .bias = false}},
      {{4, 2, 6, 6}, {.stride = {4, 4}, .channels = 32, .bias = false}},
  };
  for (const Case& c : cases) {
    const ConvolutionDesc& d = c.convolution;
    Shape out{c.data[0], d.channels};
    for (std::size_t i = 0; i < 2; ++i) {
      const std::int64_t window = d.dilate[i] * (d.kernel[i] - 1) + 1;
      out.append((c.data[static_cast<int>(i) + 2] + 2 * d.pad[i] - window) / d.stride[i] + 1);
    }
    const Array dout = random(out), weight = random({d.channels, c.data[1], d.kernel[0], d.kernel[1]}),
                data = random(c.data);
    const NormalizedConvolutionDesc desc{{.fix_gamma = true}, d};
    const LayoutPtr of_weight = secondIsOnednn() ? nullptr : gpu_kernels::channelsLast(weight.spec.shape);
    for (const LayoutPtr& layout : layoutsFor(*onednn_, out))
      for (const LayoutPtr& arranged : {LayoutPtr(), of_weight})
        compare({.desc = desc, .pass = Pass::backward, .inputs = {dout, weight, data}},
                {.desc = desc,
                 .pass = Pass::backward,
                 .inputs = {reordered(*onednn_, dout, layout), reordered(*onednn_, weight, arranged), data}});
  }
}

TEST_F(NormalizedConvolution, MistakesAreMessages) {
  const NormalizedConvolutionDesc desc{{}, {.channels = 3, .bias = false}};
  const Shape data{1, 2, 4, 4}, weight{3, 2, 1, 1};
  EXPECT_EQ(failureOf(*reference_, desc, Pass::inference, {data, weight, {2}, {2}, {2}, {2}}), "");
  EXPECT_THAT(failureOf(*reference_, desc, Pass::forward, {data, weight, {2}, {2}, {2}, {2}}),
              HasSubstr("no such pass"));
  EXPECT_THAT(failureOf(*reference_, desc, Pass::inference, {data, weight, {2}, {2}}),
              HasSubstr("takes 6 arrays, 4 given"));
  EXPECT_THAT(failureOf(*reference_, desc, Pass::inference, {data, weight, {2}, {3}, {2}, {2}}),
              HasSubstr("beta has shape 3, must be 2"));
  EXPECT_THAT(failureOf(*reference_, desc, Pass::inference, {data, {3, 1, 1, 1}, {2}, {2}, {2}, {2}}),
              HasSubstr("weight has shape"));
  EXPECT_THAT(failureOf(*reference_, desc, Pass::backward, {{1, 3, 4, 4}, weight, data}),
              HasSubstr("where gamma is fixed"));
  const NormalizedConvolutionDesc fixed{{.fix_gamma = true}, {.channels = 3, .bias = false}};
  EXPECT_EQ(failureOf(*reference_, fixed, Pass::backward, {{1, 3, 4, 4}, weight, data}), "");
  EXPECT_THAT(failureOf(*reference_, fixed, Pass::backward, {{1, 3, 4, 5}, weight, data}),
              HasSubstr("has shape"));
}

}  // namespace
}  // namespace pitwall::test::normalized_convolution_test
