// dot and batch_dot.
#include "tests/runtime/operators/operator_check.h"

namespace pitwall::test::dot_test {
namespace {

using testing::HasSubstr;

class Dot : public ConformanceCheck {
 protected:
  void check(const OperatorKindDesc& desc, const Shape& shape_a, const Shape& shape_b) {
    const Array a = random(shape_a), b = random(shape_b);
    const Pair out = compare({.desc = desc, .inputs = {a, b}});
    if (!out.onednn.kernel) return;
    compare({.desc = desc,
             .pass = Pass::backward,
             .inputs = {a, b, random(out.reference.outputs[0].spec.shape)}});
  }
};

TEST_F(Dot, BackendsAgree) {
  check(DotDesc{}, {5}, {5});
  check(DotDesc{}, {3, 5}, {5, 4});
  check(DotDesc{.transpose_a = true}, {5, 3}, {5, 4});
  check(DotDesc{.transpose_b = true}, {3, 5}, {4, 5});
  check(DotDesc{.transpose_a = true, .transpose_b = true}, {5, 33}, {17, 5});
  check(DotDesc{}, {2, 3, 5}, {5, 4, 2});
  check(DotDesc{}, {1, 1}, {1, 1});
  for (const bool a : {false, true}) {
    for (const bool b : {false, true}) {
      check(BatchDotDesc{a, b}, a ? Shape{4, 5, 3} : Shape{4, 3, 5}, b ? Shape{4, 7, 5} : Shape{4, 5, 7});
      check(BatchDotDesc{a, b}, a ? Shape{2, 2, 5, 3} : Shape{2, 2, 3, 5},
            b ? Shape{2, 2, 1, 5} : Shape{2, 2, 5, 1});
    }
  }
}

TEST_F(Dot, ByHand) {
  const Array a = makeArray({2, 2}, {1, 2, 3, 4}), b = makeArray({2, 2}, {5, 6, 7, 8});
  const auto product = [&](const DotDesc& desc) {
    return rowMajorValues(*reference_, compare({.desc = desc, .inputs = {a, b}}).reference.outputs.at(0));
  };
  EXPECT_EQ(product({}), (std::vector<float>{19, 22, 43, 50}));
  EXPECT_EQ(product({.transpose_a = true}), (std::vector<float>{26, 30, 38, 44}));
  EXPECT_EQ(product({.transpose_b = true}), (std::vector<float>{17, 23, 39, 53}));
}

TEST_F(Dot, MistakesAreMessages) {
  Backend& backend = *reference_;
  EXPECT_THAT(
      failureOf(backend, DotDesc{}, Pass::forward, {{2, 3}, {4, 5}}),
      HasSubstr("dot forward(2x3, 4x5): axis 1 of a has 3 elements, axis 0 of b 4: they must be equal"));
  EXPECT_THAT(failureOf(backend, DotDesc{}, Pass::backward, {{2, 3}, {3, 5}, {2, 3}}),
              HasSubstr("must be 2x5"));
  EXPECT_THAT(failureOf(backend, BatchDotDesc{}, Pass::forward, {{2, 3}, {3, 5}}), HasSubstr("at least 3"));
  EXPECT_THAT(failureOf(backend, BatchDotDesc{}, Pass::forward, {{2, 1, 3}, {4, 3, 5}}),
              HasSubstr("axis 0 is 2 in a and 4 in b"));
  EXPECT_THAT(failureOf(backend, BatchDotDesc{}, Pass::forward, {{2, 1, 3}, {2, 4, 5}}),
              HasSubstr("the matrices of a have 3 columns, those of b 4 rows"));
}

class DotGradient : public GradientCheck {};

TEST_P(DotGradient, OfTheKernel) {
  for (const bool a : {false, true}) {
    for (const bool b : {false, true}) {
      const Array left = random(a ? Shape{3, 2} : Shape{2, 3}), right = random(b ? Shape{4, 3} : Shape{3, 4});
      const Array dout = random({2, 4});
      const DotDesc desc{a, b};
      for (std::size_t i = 0; i < 2; ++i)
        expectGradient({.desc = desc, .inputs = {left, right}}, i, dout,
                       {.desc = desc, .pass = Pass::backward, .inputs = {left, right, dout}}, i);
    }
  }
}

TEST_P(DotGradient, OfTheCall) {
  const auto session = openSession(GetParam());
  ASSERT_NE(session, nullptr);
  checkGradients(*session, {"dot", {{2, 3}, {3, 4}}, [](Arrays& a) { return op::dot(a[0], a[1]); }});
  checkGradients(*session, {"batch_dot", {{2, 2, 3}, {2, 4, 3}}, [](Arrays& a) {
                              return op::batchDot(a[0], a[1], {.transpose_b = true});
                            }});
}

INSTANTIATE_TEST_SUITE_P(Backends, DotGradient, testing::Values("reference", "onednn"), namesOf());

}  // namespace
}  // namespace pitwall::test::dot_test
