#include "tests/runtime/operators/operator_check.h"

namespace pitwall::test::transpose_test {
namespace {

using testing::HasSubstr;

const std::pair<Shape, TransposeDesc> kCases[] = {
    {{5}, {}},
    {{3, 7}, {}},
    {{2, 3, 4}, {{1, 0, 2}, 3}},
    {{2, 3, 4}, {{2, 0, 1}, 3}},
    {{2, 17, 5, 3}, {{0, 2, 3, 1}, 4}},
    {{2, 16, 5, 3}, {{3, 0, 1, 2}, 4}},
    {{2, 3, 2, 3, 2, 2}, {{5, 0, 3, 1, 4, 2}, 6}},
};

class Transpose : public ConformanceCheck {};

TEST_F(Transpose, BackendsAgreeInEveryLayout) {
  for (const auto& [shape, desc] : kCases) {
    const Array data = random(shape);
    for (const LayoutPtr& layout : layoutsFor(*onednn_, shape)) {
      const Pair out = compare({.desc = desc, .inputs = {data}},
                               {.desc = desc, .inputs = {reordered(*onednn_, data, layout)}}, 0);
      if (!out.onednn.kernel) continue;
      const Pair back =
          compare({.desc = desc, .pass = Pass::backward, .inputs = {out.reference.outputs[0]}}, 0);
      EXPECT_EQ(rowMajorValues(*reference_, back.reference.outputs.at(0)), rowMajorValues(*reference_, data))
          << "the inverse";
    }
  }
}

TEST_F(Transpose, ByHand) {
  const Array data = makeArray({2, 3}, {1, 2, 3, 4, 5, 6});
  const Pair out = compare({.desc = TransposeDesc{}, .inputs = {data}});
  EXPECT_EQ(out.reference.outputs.at(0).spec.shape, (Shape{3, 2}));
  EXPECT_EQ(rowMajorValues(*reference_, out.reference.outputs[0]), (std::vector<float>{1, 4, 2, 5, 3, 6}));
}

TEST_F(Transpose, MistakesAreMessages) {
  for (const TransposeDesc& desc : {TransposeDesc{{0, 0}, 2}, TransposeDesc{{0, 1, 2}, 3},
                                    TransposeDesc{{0, -1}, 2}, TransposeDesc{{0, 2}, 2}})
    EXPECT_THAT(failureOf(*reference_, desc, Pass::forward, {{2, 3}}),
                HasSubstr("transpose forward(2x3): the axes must name each of the 2 axes once"));
}

class TransposeGradient : public GradientCheck {};

TEST_P(TransposeGradient, OfTheCall) {
  const auto session = openSession(GetParam());
  ASSERT_NE(session, nullptr);
  checkGradients(*session, {"transpose", {{2, 3, 4}}, [](Arrays& a) {
                              return op::transpose(a[0], {{1, 2, 0}, 3});
                            }});
}

INSTANTIATE_TEST_SUITE_P(Backends, TransposeGradient, testing::Values("reference", "onednn"), namesOf());

}  // namespace
}  // namespace pitwall::test::transpose_test
