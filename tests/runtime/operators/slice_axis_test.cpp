#include "tests/runtime/operators/operator_check.h"

namespace pitwall::test::slice_axis_test {
namespace {

using testing::HasSubstr;

class SliceAxis : public ConformanceCheck {};

TEST_F(SliceAxis, BackendsAgreeInEveryLayout) {
  const std::pair<Shape, SliceAxisDesc> cases[] = {
      {{7}, {.begin = 2, .end = 5}},
      {{3, 8}, {.axis = 1, .begin = -3}},
      {{2, 17, 5, 3}, {.axis = 1, .begin = 4, .end = -1}},
      {{2, 17, 5, 3}, {.axis = -1, .begin = 1, .end = 2}},
      {{600, 400}, {.axis = 0, .begin = 1}},
  };
  for (const auto& [shape, desc] : cases) {
    const Array data = random(shape);
    for (const LayoutPtr& layout : layoutsFor(*onednn_, shape)) {
      const Array arranged = reordered(*onednn_, data, layout);
      const Pair out = compare({.desc = desc, .inputs = {data}}, {.desc = desc, .inputs = {arranged}}, 0);
      if (!out.onednn.kernel) continue;
      const Array dout = random(out.reference.outputs[0].spec.shape);
      compare({.desc = desc, .pass = Pass::backward, .inputs = {data, dout}},
              {.desc = desc, .pass = Pass::backward, .inputs = {arranged, dout}}, 0);
    }
  }
}

TEST_F(SliceAxis, ByHand) {
  const Array data = makeArray({2, 3}, {1, 2, 3, 4, 5, 6});
  const Pair out = compare({.desc = SliceAxisDesc{.axis = 1, .begin = 1}, .inputs = {data}});
  EXPECT_EQ(rowMajorValues(*reference_, out.reference.outputs.at(0)), (std::vector<float>{2, 3, 5, 6}));
}

TEST_F(SliceAxis, MistakesAreMessages) {
  Backend& backend = *reference_;
  EXPECT_THAT(failureOf(backend, SliceAxisDesc{.begin = 2, .end = 2}, Pass::forward, {{3}}),
              HasSubstr("slice_axis forward(3): the range 2 to 2 is not one of the 3 elements of axis 0"));
  EXPECT_THAT(failureOf(backend, SliceAxisDesc{.begin = -4}, Pass::forward, {{3}}),
              HasSubstr("the range -1 to 3"));
  EXPECT_THAT(failureOf(backend, SliceAxisDesc{.end = 4}, Pass::forward, {{3}}),
              HasSubstr("the range 0 to 4"));
  EXPECT_THAT(failureOf(backend, SliceAxisDesc{.axis = 1}, Pass::forward, {{3}}),
              HasSubstr("there is no axis 1"));
}

class SliceAxisGradient : public GradientCheck {};

TEST_P(SliceAxisGradient, OfTheCall) {
  const auto session = openSession(GetParam());
  ASSERT_NE(session, nullptr);
  checkGradients(*session, {"slice_axis", {{3, 4}}, [](Arrays& a) {
                              return op::sliceAxis(a[0], {.axis = 1, .begin = 1, .end = 3});
                            }});
}

INSTANTIATE_TEST_SUITE_P(Backends, SliceAxisGradient, testing::Values("reference", "onednn"), namesOf());

}  // namespace
}  // namespace pitwall::test::slice_axis_test
