#include <limits>

#include "tests/runtime/operators/operator_check.h"

namespace pitwall::test::reciprocal_test {
namespace {

using testing::HasSubstr;

class Reciprocal : public ConformanceCheck {};

TEST_F(Reciprocal, BackendsAgreeInEveryLayout) {
  for (const Shape& shape : kElementwiseShapes) {
    const ReciprocalDesc desc{-2.5F};
    const Array data = away(shape), dout = random(shape);
    for (const LayoutPtr& layout : layoutsFor(*onednn_, shape)) {
      const Array arranged = reordered(*onednn_, data, layout);
      compare({.desc = desc, .pass = Pass::inference, .inputs = {data}},
              {.desc = desc, .pass = Pass::inference, .inputs = {arranged}});
      compare({.desc = desc, .pass = Pass::backward, .inputs = {data, dout}},
              {.desc = desc, .pass = Pass::backward, .inputs = {arranged, dout}});
    }
  }
}

TEST_F(Reciprocal, ByHand) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Array data = makeArray({4}, {2, -4, 0, infinity});
  const Answer out = ask(*onednn_, {.desc = ReciprocalDesc{3}, .inputs = {data}});
  EXPECT_EQ(rowMajorValues(*onednn_, out.outputs.at(0)), (std::vector<float>{1.5F, -0.75F, infinity, 0}));
  const Pair gradient = compare({.desc = ReciprocalDesc{3},
                                 .pass = Pass::backward,
                                 .inputs = {makeArray({2}, {2, -1}), makeArray({2}, {4, 5})}});
  EXPECT_EQ(rowMajorValues(*onednn_, gradient.onednn.outputs.at(0)), (std::vector<float>{-3, -15}));
}

TEST_F(Reciprocal, MistakesAreMessages) {
  EXPECT_THAT(failureOf(*reference_, ReciprocalDesc{}, Pass::backward, {{2}, {3}}),
              HasSubstr("Reciprocal backward(2, 3): dout has shape 3, must be 2"));
}

class ReciprocalGradient : public GradientCheck {};

TEST_P(ReciprocalGradient, OfTheKernel) {
  Array data = spread({3, 5});
  for (std::int64_t i = 0; i < 15; ++i) data.floats()[i] += data.floats()[i] < 0 ? -0.6F : 0.6F;
  const Array dout = random({3, 5});
  expectGradient({.desc = ReciprocalDesc{2}, .inputs = {data}}, 0, dout,
                 {.desc = ReciprocalDesc{2}, .pass = Pass::backward, .inputs = {data, dout}});
}

INSTANTIATE_TEST_SUITE_P(Backends, ReciprocalGradient, testing::Values("reference", "onednn"), namesOf());

}  // namespace
}  // namespace pitwall::test::reciprocal_test
