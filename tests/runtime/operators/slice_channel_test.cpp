#include "tests/runtime/operators/operator_check.h"

namespace pitwall::test::slice_channel_test {
namespace {

using testing::HasSubstr;

class SliceChannel : public ConformanceCheck {
 protected:
  // Forward and backward of data in a layout.
  Pair check(const SliceChannelDesc& desc, const Array& data, const LayoutPtr& layout) {
    const Array arranged = reordered(*onednn_, data, layout);
    const Pair out = compare({.desc = desc, .inputs = {data}}, {.desc = desc, .inputs = {arranged}}, 0);
    Call plain{.desc = desc, .pass = Pass::backward}, blocked = plain;
    for (std::size_t i = 0; i < out.onednn.outputs.size(); ++i) {
      const Array dout = random(out.reference.outputs[i].spec.shape);
      plain.inputs.push_back(dout);
      blocked.inputs.push_back(reordered(*onednn_, dout, out.onednn.kernel->outputs()[i].layout));
    }
    compare(plain, blocked, 0);
    return out;
  }
};

TEST_F(SliceChannel, BackendsAgreeInEveryLayout) {
  const std::pair<Shape, SliceChannelDesc> cases[] = {
      {{6}, {.axis = 0, .outputs = 3}},
      {{2, 6}, {.outputs = 1}},
      {{3, 4, 5}, {.axis = -2, .outputs = 4, .squeeze = true}},
      {{3, 4}, {.axis = -1, .outputs = 4, .squeeze = true}},
      {{2, 34, 5, 3}, {.outputs = 2}},
      {{2, 32, 5, 3}, {.outputs = 2}},
      {{2, 16, 4, 3}, {.axis = 2, .outputs = 2}},
      {{4, 17, 5, 3}, {.axis = 0, .outputs = 4, .squeeze = true}},
  };
  for (const auto& [shape, desc] : cases) {
    const Array data = random(shape);
    for (const LayoutPtr& layout : layoutsFor(*onednn_, shape)) check(desc, data, layout);
  }
}

// As in a network: blocked data is not rearranged.
TEST_F(SliceChannel, KeepsTheLayoutOfItsInput) {
  const Shape shape{2, 64, 5, 3};
  const LayoutPtr layout = blockedLayout(*onednn_, shape);
  const Pair out = check({.outputs = 2}, random(shape), layout);
  ASSERT_TRUE(out.onednn.kernel);
  EXPECT_TRUE(sameLayout(out.onednn.kernel->inputs()[0].layout, layout));
  for (const TensorSpec& spec : out.onednn.kernel->outputs())
    EXPECT_TRUE(sameLayout(spec.layout, blockedLayout(*onednn_, {2, 32, 5, 3})));
}

TEST_F(SliceChannel, ByHand) {
  const Array data = makeArray({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Pair halves = compare({.desc = SliceChannelDesc{}, .inputs = {data}});
  EXPECT_EQ(rowMajorValues(*onednn_, halves.onednn.outputs.at(0)), (std::vector<float>{1, 2, 5, 6}));
  EXPECT_EQ(rowMajorValues(*onednn_, halves.onednn.outputs.at(1)), (std::vector<float>{3, 4, 7, 8}));
  const SliceChannelDesc rows{.axis = 0, .outputs = 2, .squeeze = true};
  const Pair squeezed = compare({.desc = rows, .inputs = {data}});
  EXPECT_EQ(squeezed.onednn.outputs.at(1).spec.shape, (Shape{4}));
  EXPECT_EQ(rowMajorValues(*onednn_, squeezed.onednn.outputs.at(1)), (std::vector<float>{5, 6, 7, 8}));
  const Pair gradient = compare(
      {.desc = rows, .pass = Pass::backward, .inputs = {makeArray({2}, {1, 2}), makeArray({2}, {3, 4})}});
  EXPECT_EQ(gradient.onednn.outputs.at(0).spec.shape, (Shape{2, 2}));
  EXPECT_EQ(rowMajorValues(*onednn_, gradient.onednn.outputs.at(0)), (std::vector<float>{1, 2, 3, 4}));
}

TEST_F(SliceChannel, MistakesAreMessages) {
  Backend& backend = *reference_;
  EXPECT_THAT(failureOf(backend, SliceChannelDesc{.outputs = 3}, Pass::forward, {{2, 4}}),
              HasSubstr("SliceChannel forward(2x4): 3 outputs do not divide axis 1 of 2x4"));
  EXPECT_THAT(failureOf(backend, SliceChannelDesc{.squeeze = true}, Pass::forward, {{2, 4}}),
              HasSubstr("2 squeezed outputs do not divide axis 1"));
  EXPECT_THAT(failureOf(backend, SliceChannelDesc{.axis = 2}, Pass::forward, {{2, 4}}),
              HasSubstr("there is no axis 2 in 2x4"));
  EXPECT_THAT(failureOf(backend, SliceChannelDesc{.outputs = 0}, Pass::forward, {{2, 4}}),
              HasSubstr("0 outputs"));
  EXPECT_THAT(failureOf(backend, SliceChannelDesc{}, Pass::backward, {{2, 4}, {2, 3}}),
              HasSubstr("dout has shape 2x3, must be 2x4"));
  EXPECT_THAT(failureOf(backend, SliceChannelDesc{.axis = -4}, Pass::backward, {{2, 4}, {2, 4}}),
              HasSubstr("there is no axis -4"));
}

class SliceChannelGradient : public GradientCheck {};

// The loss is of output 0: the gradients of the others are 0.
TEST_P(SliceChannelGradient, OfTheKernel) {
  const SliceChannelDesc desc{.axis = 1, .outputs = 3};
  const Array data = random({2, 6, 2}), dout = random({2, 2, 2}),
              none = makeArray({2, 2, 2}, std::vector<float>(8));
  expectGradient({.desc = desc, .inputs = {data}}, 0, dout,
                 {.desc = desc, .pass = Pass::backward, .inputs = {dout, none, none}});
}

INSTANTIATE_TEST_SUITE_P(Backends, SliceChannelGradient, testing::Values("reference", "onednn"), namesOf());

}  // namespace
}  // namespace pitwall::test::slice_channel_test
