#include <limits>

#include "tests/runtime/operators/operator_check.h"

namespace pitwall::test::clip_test {
namespace {

using testing::HasSubstr;

const ClipDesc kRanges[] = {{}, {-0.5F, 0.25F}, {-2, -1}, {0.2F, 0.2F}};

class Clip : public KeepsLayoutCheck {};

TEST_F(Clip, BackendsAgreeInEveryLayout) {
  for (const Shape& shape : kElementwiseShapes) {
    for (const ClipDesc& desc : kRanges) compareInEveryLayout(desc, random(shape));
  }
}

// The padding of a blocked layout stays zero: other kernels rely on it.
TEST_F(Clip, PaddingStaysZero) {
  const Shape shape{2, 17, 5, 3};
  const Array blocked = reordered(*onednn_, random(shape), blockedLayout(*onednn_, shape));
  const Array out = ask(*onednn_, {.desc = ClipDesc{1, 2}, .inputs = {blocked}}).outputs.at(0);
  EXPECT_EQ(storedSum(out), static_cast<double>(shape.elements())) << "each element is below 1 and becomes 1";
}

TEST_F(Clip, ByHand) {
  const float inf = std::numeric_limits<float>::infinity();
  const Array data = makeArray({7}, {-inf, -1, 0, 3, 6, 7, inf});
  const Pair out = compare({.desc = ClipDesc{}, .inputs = {data}});
  EXPECT_EQ(rowMajorValues(*reference_, out.reference.outputs.at(0)),
            (std::vector<float>{0, 0, 0, 3, 6, 6, 6}));
  const Array dout = makeArray({7}, {1, 2, 3, 4, 5, 6, 7});
  const Pair gradient =
      compare({.desc = ClipDesc{}, .pass = Pass::backward, .inputs = {out.reference.outputs[0], dout}});
  EXPECT_EQ(rowMajorValues(*reference_, gradient.reference.outputs.at(0)),
            (std::vector<float>{0, 0, 0, 4, 0, 0, 0}))
      << "0 at the limits themselves";
}

TEST_F(Clip, MistakesAreMessages) {
  const auto failure = [this](const ClipDesc& desc, Pass pass, const std::vector<Shape>& shapes) {
    return failureOf(*reference_, desc, pass, shapes);
  };
  EXPECT_THAT(failure({2, 1}, Pass::inference, {{3}}), HasSubstr("clip inference(3): the range is 2 to 1"));
  EXPECT_THAT(failure({0, NAN}, Pass::forward, {{3}}), HasSubstr("the range is 0 to nan"));
  EXPECT_THAT(failure({}, Pass::backward, {{3}}), HasSubstr("takes 2 arrays, 1 given"));
  EXPECT_THAT(failure({}, Pass::backward, {{3}, {4}}), HasSubstr("dout has shape 4, must be 3"));
  EXPECT_THAT(failure({}, Pass::backwardData, {{3}}), HasSubstr("no such pass"));
}

class ClipGradient : public GradientCheck {};

TEST_P(ClipGradient, OfTheKernel) {
  for (const ClipDesc& desc : {ClipDesc{-0.3F, 0.4F}, ClipDesc{}}) {
    const Array data = spread({3, 11}), dout = random({3, 11});
    const Call forward{.desc = desc, .inputs = {data}};
    const Array out = ask(*backend_, forward).outputs.at(0);
    expectGradient(forward, 0, dout, {.desc = desc, .pass = Pass::backward, .inputs = {out, dout}});
  }
}

TEST_P(ClipGradient, OfTheCall) {
  const auto session = openSession(GetParam());
  ASSERT_NE(session, nullptr);
  checkGradients(*session, {"clip",
                            {{3, 5}},
                            [](Arrays& a) {
                              return op::clip(a[0], {-0.215F, 0.135F});
                            },
                            distinctNumbers});
  checkGradients(
      *session,
      {"ReLU6 of NCHW", {{2, 3, 2, 2}}, [](Arrays& a) { return op::clip(a[0], {}); }, distinctNumbers});
}

INSTANTIATE_TEST_SUITE_P(Backends, ClipGradient, testing::Values("reference", "onednn"), namesOf());

TEST(ClipCall, AnEmptyHandleIsAMessage) {
  const auto result = op::clip(NDArray(), {});
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error().message, HasSubstr("clip: data is an empty handle"));
}

TEST(ClipCall, IsKnownByName) { EXPECT_EQ(findOperatorKind("clip"), &ClipDesc::kKind); }

}  // namespace
}  // namespace pitwall::test::clip_test
