#include "tests/runtime/operators/operator_check.h"

namespace pitwall::test::concat_test {
namespace {

using testing::HasSubstr;

class Concat : public ConformanceCheck {
 protected:
  // Forward and backward, with all arrays row-major and with those of `blocked` (bits) in the layout of a convolution.
  void check(const ConcatDesc& desc, const std::vector<Shape>& shapes, unsigned blocked,
             Pass layouts = Pass::forward) {
    std::vector<Array> plain, arranged;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      plain.push_back(random(shapes[i]));
      const bool block = (blocked >> i & 1U) != 0;
      arranged.push_back(
          reordered(*onednn_, plain[i], block ? blockedLayout(*onednn_, shapes[i], layouts) : LayoutPtr()));
    }
    const Pair out = compare({.desc = desc, .inputs = plain}, {.desc = desc, .inputs = arranged}, 0);
    if (!out.onednn.kernel) return;
    kernel_ = out.onednn.kernel;
    const Array dout = random(out.reference.outputs[0].spec.shape);
    plain.push_back(dout);
    arranged.push_back(reordered(*onednn_, dout, out.onednn.kernel->outputs()[0].layout));
    compare({.desc = desc, .pass = Pass::backward, .inputs = plain},
            {.desc = desc, .pass = Pass::backward, .inputs = arranged}, 0);
  }

  KernelPtr kernel_;  // of the last forward pass
};

TEST_F(Concat, BackendsAgree) {
  check({.axis = 0, .inputs = 1}, {{3}}, 0);
  check({.axis = 0, .inputs = 3}, {{3}, {1}, {4}}, 0);
  check({.axis = -1, .inputs = 2}, {{2, 3}, {2, 5}}, 0);
  check({.axis = 2, .inputs = 2}, {{2, 3, 4, 5, 2}, {2, 3, 1, 5, 2}}, 0);
  for (const unsigned blocked : {0U, 1U, 2U, 3U}) {
    check({.inputs = 2}, {{2, 16, 5, 3}, {2, 32, 5, 3}}, blocked);
    check({.inputs = 2}, {{2, 17, 5, 3}, {2, 19, 5, 3}}, blocked);
    check({.inputs = 2}, {{1, 3, 1, 1}, {1, 32, 1, 1}}, blocked);
    check({.axis = 2, .inputs = 2}, {{2, 17, 5, 3}, {2, 17, 2, 3}}, blocked);
    check({.axis = 0, .inputs = 2}, {{2, 17, 5, 3}, {1, 17, 5, 3}}, blocked);
    check({.inputs = 2}, {{2, 16, 5, 3}, {2, 17, 5, 3}}, blocked, Pass::inference);
  }
}

// As in a network: blocked parts are not rearranged.
TEST_F(Concat, KeepsTheLayoutOfItsInputs) {
  const std::vector<Shape> shapes{{2, 64, 7, 7}, {2, 32, 7, 7}, {2, 96, 7, 7}};
  check({.inputs = 3}, shapes, 7);
  ASSERT_TRUE(kernel_);
  for (std::size_t i = 0; i < shapes.size(); ++i)
    EXPECT_TRUE(sameLayout(kernel_->inputs()[i].layout, blockedLayout(*onednn_, shapes[i]))) << i;
  EXPECT_TRUE(sameLayout(kernel_->outputs()[0].layout, blockedLayout(*onednn_, {2, 192, 7, 7})));
  check({.inputs = 3}, shapes, 2);
  EXPECT_TRUE(sameLayout(kernel_->outputs()[0].layout, blockedLayout(*onednn_, {2, 192, 7, 7})))
      << "one blocked input is enough";
}

// A first part of one channel is in memory as if it were row-major; the output is arranged as the others are.
TEST_F(Concat, APartWithOneChannelDoesNotDecideTheLayout) {
  const LayoutPtr layout = blockedLayout(*onednn_, {2, 18, 5, 3}, Pass::inference);
  check({.inputs = 2}, {{2, 1, 5, 3}, {2, 17, 5, 3}}, 2, Pass::inference);
  ASSERT_TRUE(kernel_);
  if (layout == nullptr || layout->toString() != "acdb")
    GTEST_SKIP() << "no convolution has channels last here";
  EXPECT_TRUE(sameLayout(kernel_->outputs()[0].layout, layout));
}

// The padding of the last part is that of the output.
TEST_F(Concat, PaddingStaysZero) {
  const Shape first{2, 32, 5, 3}, last{2, 17, 5, 3};
  const Array a = reordered(*onednn_, random(first), blockedLayout(*onednn_, first));
  const Array b = reordered(*onednn_, random(last), blockedLayout(*onednn_, last));
  const Array out = ask(*onednn_, {.desc = ConcatDesc{}, .inputs = {a, b}}).outputs.at(0);
  double sum = 0;
  for (const float value : rowMajorValues(*onednn_, out)) sum += static_cast<double>(value);
  EXPECT_NEAR(storedSum(out), sum, 1e-6);
}

TEST_F(Concat, ByHand) {
  const Array a = makeArray({2, 1}, {1, 2}), b = makeArray({2, 2}, {3, 4, 5, 6});
  const Pair out = compare({.desc = ConcatDesc{}, .inputs = {a, b}});
  EXPECT_EQ(rowMajorValues(*reference_, out.reference.outputs.at(0)), (std::vector<float>{1, 3, 4, 2, 5, 6}));
}

TEST_F(Concat, MistakesAreMessages) {
  Backend& backend = *reference_;
  EXPECT_THAT(
      failureOf(backend, ConcatDesc{}, Pass::forward, {{2, 3}, {3, 3}}),
      HasSubstr("Concat forward(2x3, 3x3): input 1 is 3x3, input 0 2x3: they may differ in axis 1 alone"));
  EXPECT_THAT(failureOf(backend, ConcatDesc{}, Pass::forward, {{2, 3}, {2, 3, 1}}),
              HasSubstr("input 1 is 2x3x1"));
  EXPECT_THAT(failureOf(backend, ConcatDesc{.axis = 2}, Pass::forward, {{2, 3}, {2, 3}}),
              HasSubstr("there is no axis 2 in 2x3"));
  EXPECT_THAT(failureOf(backend, ConcatDesc{}, Pass::forward, {{2, 3}}),
              HasSubstr("takes 2 arrays, 1 given"));
  EXPECT_THAT(failureOf(backend, ConcatDesc{.inputs = 0}, Pass::forward, {}), HasSubstr("0 inputs"));
  EXPECT_THAT(failureOf(backend, ConcatDesc{}, Pass::backward, {{2, 3}, {2, 3}, {2, 5}}),
              HasSubstr("dout has shape 2x5, must be 2x6"));
  EXPECT_THAT(failureOf(backend, ConcatDesc{}, Pass::backwardData, {}), HasSubstr("no such pass"));
}

class ConcatGradient : public GradientCheck {};

TEST_P(ConcatGradient, OfTheKernel) {
  const ConcatDesc desc{.axis = 1, .inputs = 2};
  const Array a = random({2, 3, 2}), b = random({2, 1, 2}), dout = random({2, 4, 2});
  const Call forward{.desc = desc, .inputs = {a, b}};
  const Call backward{.desc = desc, .pass = Pass::backward, .inputs = {a, b, dout}};
  for (std::size_t i = 0; i < 2; ++i) expectGradient(forward, i, dout, backward, i);
}

TEST_P(ConcatGradient, OfTheCall) {
  const auto session = openSession(GetParam());
  ASSERT_NE(session, nullptr);
  checkGradients(*session, {"concat", {{2, 3}, {2, 2}}, [](Arrays& a) { return op::concat(a, 1); }});
  checkGradients(*session, {"an array twice", {{2, 3}}, [](Arrays& a) {
                              const NDArray twice[] = {a[0], a[0]};
                              return op::concat(twice, 0);
                            }});
}

INSTANTIATE_TEST_SUITE_P(Backends, ConcatGradient, testing::Values("reference", "onednn"), namesOf());

TEST(ConcatCall, NoArrayIsAMessage) {
  const auto result = op::concat({});
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error().message, HasSubstr("Concat: no array is given"));
}

}  // namespace
}  // namespace pitwall::test::concat_test
