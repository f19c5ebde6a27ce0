// Convolution and FullyConnected with an addition and an activation of their output.
#include "tests/runtime/operators/operator_check.h"

namespace pitwall::test::fused_test {
namespace {

using testing::HasSubstr;
using Type = FusedActivation::Type;

const FusedActivation kActivations[] = {{Type::none}, {Type::relu},     {Type::sigmoid},
                                        {Type::tanh}, {Type::softrelu}, {Type::clip, -0.25F, 0.5F}};

class Fused : public ConformanceCheck {
 protected:
  struct Case {
    Shape data;
    ConvolutionDesc desc;
  };
  Call call(const Case& c) {
    const ConvolutionDesc& d = c.desc;
    Call call{
        .desc = d,
        .pass = Pass::inference,
        .inputs = {random(c.data), random({d.channels, c.data[1] / d.groups, d.kernel[0], d.kernel[1]})}};
    if (d.bias) call.inputs.push_back(random({d.channels}));
    return call;
  }
};

TEST_F(Fused, BackendsAgree) {
  const Case cases[] = {
      {{2, 16, 9, 9}, {.kernel = {3, 3}, .pad = {1, 1}, .channels = 32, .bias = false}},
      {{1, 16, 9, 9}, {.channels = 48}},
      {{2, 17, 8, 8}, {.kernel = {1, 1}, .stride = {2, 2}, .channels = 19}},
      {{2, 19, 8, 8}, {.kernel = {3, 3}, .pad = {1, 1}, .channels = 19, .groups = 19}},
      {{1, 3, 16, 16}, {.kernel = {7, 7}, .stride = {2, 2}, .pad = {3, 3}, .channels = 16}},
  };
  for (Case c : cases) {
    for (const FusedActivation& activation : kActivations) {
      c.desc.activation = activation;
      c.desc.adds = false;
      const Call plain = call(c);
      const Pair out = compare(plain);
      if (!out.onednn.kernel) continue;
      c.desc.adds = true;
      Call adding = plain;
      adding.desc = c.desc;
      adding.inputs.push_back(random(out.reference.outputs[0].spec.shape));
      const Pair sum = compare(adding);
      ASSERT_TRUE(sum.onednn.kernel);
      EXPECT_TRUE(
          sameLayout(sum.onednn.kernel->inputs().back().layout, sum.onednn.kernel->outputs()[0].layout));
    }
  }
}

// A convolution along one axis is that of an image of height 1.
TEST_F(Fused, ConvolutionAlongOneAxis) {
  const ConvolutionDesc desc{
      .kernel = {1, 5}, .stride = {1, 2}, .pad = {0, 2}, .channels = 24, .activation = {Type::relu}};
  const Array data = random({2, 17, 30}), weight = random({24, 17, 5}), bias = random({24});
  const auto as_image = [](const Array& array) {
    const Shape& s = array.spec.shape;
    return makeArray({s[0], s[1], 1, s[2]}, {array.floats(), array.floats() + s.elements()});
  };
  const Pair line = compare({.desc = desc, .pass = Pass::inference, .inputs = {data, weight, bias}});
  ASSERT_TRUE(line.onednn.kernel);
  EXPECT_EQ(line.onednn.outputs[0].spec.shape, (Shape{2, 24, 15}));
  const Answer image =
      ask(*reference_,
          {.desc = desc, .pass = Pass::inference, .inputs = {as_image(data), as_image(weight), bias}});
  EXPECT_EQ(rowMajorValues(*reference_, line.reference.outputs[0]),
            rowMajorValues(*reference_, image.outputs.at(0)));
}

// The addend at the address of the output is not copied, and the result the same.
TEST_F(Fused, AddsInPlace) {
  const Case c{{2, 17, 6, 6},
               {.kernel = {3, 3}, .pad = {1, 1}, .channels = 17, .adds = true, .activation = {Type::relu}}};
  Call adding = call(c);
  const Array addend = random({2, 17, 6, 6});
  adding.inputs.push_back(addend);
  for (Backend* backend : {reference_.get(), onednn_.get()}) {
    const Answer apart = ask(*backend, adding);
    ASSERT_TRUE(apart.kernel);
    std::vector<Array> inputs;
    std::vector<const void*> from;
    for (std::size_t i = 0; i < adding.inputs.size(); ++i) {
      inputs.push_back(clone(reordered(*backend, adding.inputs[i], apart.kernel->inputs()[i].layout)));
      from.push_back(inputs[i].bytes.get());
    }
    void* to[] = {inputs.back().bytes.get()};
    const std::vector<std::byte> workspace(static_cast<std::size_t>(apart.kernel->workspaceBytes()) + 64);
    auto* aligned =
        reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(workspace.data()) + 63) / 64 * 64);
    ASSERT_TRUE(
        apart.kernel->run({.inputs = from, .outputs = to, .context = {.workspace = aligned}}).has_value());
    EXPECT_EQ(rowMajorValues(*backend, inputs.back()), rowMajorValues(*backend, apart.outputs[0]));
  }
}

TEST_F(Fused, FullyConnected) {
  for (const FusedActivation& activation : kActivations) {
    const FullyConnectedDesc desc{.units = 17, .activation = activation};
    compare(
        {.desc = desc, .pass = Pass::inference, .inputs = {random({5, 33}), random({17, 33}), random({17})}});
  }
}

// Without flatten, the last axis alone is multiplied.
TEST_F(Fused, FullyConnectedOfTheLastAxis) {
  const FullyConnectedDesc desc{.units = 3, .flatten = false};
  const Array data = random({2, 4, 5}), weight = random({3, 5}), bias = random({3}), dout = random({2, 4, 3});
  const Pair out = compare({.desc = desc, .inputs = {data, weight, bias}});
  EXPECT_EQ(out.reference.outputs.at(0).spec.shape, (Shape{2, 4, 3}));
  const Array rows = makeArray({8, 5}, {data.floats(), data.floats() + 40});
  const Answer flat =
      ask(*reference_, {.desc = FullyConnectedDesc{.units = 3}, .inputs = {rows, weight, bias}});
  EXPECT_EQ(rowMajorValues(*reference_, out.reference.outputs[0]),
            rowMajorValues(*reference_, flat.outputs.at(0)));
  compare({.desc = desc, .pass = Pass::backwardData, .inputs = {dout, weight}, .like = &data.spec});
  compare({.desc = desc, .pass = Pass::backwardWeights, .inputs = {data, dout}, .like = &weight.spec});
}

TEST_F(Fused, MistakesAreMessages) {
  Backend& backend = *reference_;
  const ConvolutionDesc adds{.bias = false, .adds = true}, relu{.bias = false, .activation = {Type::relu}};
  const Shape data{1, 1, 4, 4}, weight{1, 1, 1, 1};
  EXPECT_THAT(
      failureOf(backend, relu, Pass::forward, {data, weight}),
      HasSubstr("a fused addition or activation is for inference only; train with an operator for each"));
  EXPECT_THAT(failureOf(backend, adds, Pass::backwardData, {data, weight}), HasSubstr("for inference only"));
  EXPECT_THAT(failureOf(backend, adds, Pass::inference, {data, weight}),
              HasSubstr("takes 3 arrays, 2 given"));
  EXPECT_THAT(failureOf(backend, adds, Pass::inference, {data, weight, {1, 1, 4, 5}}),
              HasSubstr("the addend has shape 1x1x4x5, must be 1x1x4x4"));
  EXPECT_THAT(failureOf(backend, ConvolutionDesc{.bias = false, .activation = {Type::clip, 2, 1}},
                        Pass::inference, {data, weight}),
              HasSubstr("the range of the fused clip is 2 to 1"));
  EXPECT_THAT(failureOf(backend, FullyConnectedDesc{.activation = {Type::relu}}, Pass::forward,
                        {{1, 1}, {1, 1}, {1}}),
              HasSubstr("for inference only"));
}

TEST_F(Fused, MistakesOfOneAxisAreMessages) {
  EXPECT_THAT(failureOf(*reference_, ConvolutionDesc{.kernel = {3, 3}, .bias = false}, Pass::forward,
                        {{1, 1, 9}, {1, 1, 3}}),
              HasSubstr("data has 3 axes: the first kernel and stride must be 1, the first pad 0"));
  EXPECT_THAT(failureOf(*reference_, ConvolutionDesc{.dilate = {2, 1}, .bias = false}, Pass::forward,
                        {{1, 1, 9}, {1, 1, 1}}),
              HasSubstr("the first dilate must be 1"));
  EXPECT_THAT(failureOf(*reference_, ConvolutionDesc{.kernel = {1, 10}, .bias = false}, Pass::forward,
                        {{1, 1, 9}, {1, 1, 10}}),
              HasSubstr("does not fit into 1x1x9 data"));
}

class LastAxisGradient : public GradientCheck {};

TEST_P(LastAxisGradient, OfFullyConnected) {
  expectWeightedGradients(FullyConnectedDesc{.units = 2, .flatten = false}, {2, 2, 3}, {2, 3}, {2});
}

INSTANTIATE_TEST_SUITE_P(Backends, LastAxisGradient, testing::Values("reference", "onednn"), namesOf());

}  // namespace
}  // namespace pitwall::test::fused_test
