#include <limits>

#include "tests/runtime/operators/operator_check.h"

namespace pitwall::test::reduce_test {
namespace {

using testing::HasSubstr;

constexpr ReduceType kTypes[] = {ReduceType::sum, ReduceType::mean, ReduceType::maximum, ReduceType::minimum};

class Reduce : public ConformanceCheck {};

TEST_F(Reduce, BackendsAgreeInEveryLayout) {
  for (const Shape& shape :
       {Shape{1}, Shape{7}, Shape{3, 5}, Shape{2, 17, 5, 3}, Shape{1, 16, 4, 4}, Shape{600, 400}}) {
    const Array data = random(shape);
    for (unsigned axes = 0; axes < 1U << shape.rank(); ++axes) {
      for (const ReduceType type : kTypes) {
        const ReduceDesc desc{type, static_cast<std::uint8_t>(axes), axes % 3 == 0};
        for (const LayoutPtr& layout : layoutsFor(*onednn_, shape)) {
          const Array arranged = reordered(*onednn_, data, layout);
          const Pair out = compare({.desc = desc, .inputs = {data}}, {.desc = desc, .inputs = {arranged}});
          if (!out.onednn.kernel) continue;
          const Array dout = random(out.reference.outputs[0].spec.shape);
          compare({.desc = desc, .pass = Pass::backward, .inputs = {data, out.reference.outputs[0], dout}},
                  {.desc = desc, .pass = Pass::backward, .inputs = {arranged, out.onednn.outputs[0], dout}});
        }
      }
    }
  }
}

TEST_F(Reduce, ByHand) {
  const Array data = makeArray({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto reduced = [&](const ReduceDesc& desc) {
    const Array out = compare({.desc = desc, .inputs = {data}}).reference.outputs.at(0);
    return std::pair(out.spec.shape, rowMajorValues(*reference_, out));
  };
  EXPECT_EQ(reduced({}), std::pair(Shape{1}, std::vector<float>{21}));
  EXPECT_EQ(reduced({ReduceType::mean, 1}), std::pair(Shape{3}, std::vector<float>{2.5F, 3.5F, 4.5F}));
  EXPECT_EQ(reduced({ReduceType::maximum, 2, true}), std::pair(Shape{2, 1}, std::vector<float>{3, 6}));
  EXPECT_EQ(reduced({ReduceType::minimum, 3}), std::pair(Shape{1}, std::vector<float>{1}));
}

TEST_F(Reduce, NanStaysInMaximumAndMinimum) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Array data = makeArray({2, 3}, {1, nan, 3, 6, 4, 5});
  for (Backend* backend : {reference_.get(), onednn_.get()}) {
    for (const ReduceType type : {ReduceType::maximum, ReduceType::minimum}) {
      const Array rows = ask(*backend, {.desc = ReduceDesc{type, 2}, .inputs = {data}}).outputs.at(0);
      const auto values = rowMajorValues(*backend, rows);
      EXPECT_TRUE(std::isnan(values[0])) << backend->name();
      EXPECT_EQ(values[1], type == ReduceType::maximum ? 6 : 4);
      const auto columns = rowMajorValues(
          *backend, ask(*backend, {.desc = ReduceDesc{type, 1}, .inputs = {data}}).outputs.at(0));
      EXPECT_TRUE(std::isnan(columns[1])) << backend->name();
      EXPECT_EQ(columns[0], type == ReduceType::maximum ? 6 : 1);
      const auto gradient =
          rowMajorValues(*backend, ask(*backend, {.desc = ReduceDesc{type, 2},
                                                  .pass = Pass::backward,
                                                  .inputs = {data, rows, makeArray({2}, {7, 8})}})
                                       .outputs.at(0));
      EXPECT_EQ(std::vector<float>(gradient.begin(), gradient.begin() + 3), (std::vector<float>{0, 0, 0}))
          << "no element equals NaN";
    }
  }
}

TEST_F(Reduce, MistakesAreMessages) {
  EXPECT_THAT(
      failureOf(*reference_, ReduceDesc{ReduceType::sum, 4}, Pass::forward, {{2, 3}}),
      HasSubstr("Reduce forward(2x3): the axes 0x4 (a bit for each) are not all among the 2 of the data"));
  EXPECT_THAT(failureOf(*reference_, ReduceDesc{}, Pass::backward, {{2, 3}, {1}, {2}}),
              HasSubstr("dout has shape 2"));
}

class ReduceGradient : public GradientCheck {};

TEST_P(ReduceGradient, OfTheCall) {
  const auto session = openSession(GetParam());
  ASSERT_NE(session, nullptr);
  for (const ReduceType type : kTypes) {
    checkGradients(*session, {"reduce",
                              {{2, 3, 2}},
                              [type](Arrays& a) {
                                return op::reduce(a[0], {type, 2, false});
                              },
                              distinctNumbers});
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, ReduceGradient, testing::Values("reference", "onednn"), namesOf());

}  // namespace
}  // namespace pitwall::test::reduce_test
