#include "runtime/operators/pointwise.h"

#include <cmath>
#include <limits>

#include "tests/runtime/operators/operator_check.h"

namespace pitwall::test::pointwise_test {
namespace {

using testing::HasSubstr;
using Function = PointwiseDesc::Function;

class Pointwise : public ConformanceCheck {};

// Each function alone, on lengths below, at and beyond a block.
TEST_F(Pointwise, BackendsAgree) {
  for (std::uint8_t f = 0; f <= static_cast<std::uint8_t>(Function::clipGradient); ++f) {
    const PointwiseDesc desc{2, {{static_cast<Function>(f), 0, 1, -0.5F, 0.75F}}, {2}};
    for (const Shape& shape : {Shape{1}, Shape{256}, Shape{3, 7, 53}, Shape{2, 16, 9, 9}})
      compare({.desc = desc, .pass = Pass::inference, .inputs = {away(shape), away(shape)}});
  }
}

TEST_F(Pointwise, FunctionsAreExactOverTheirRange) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> values{0.0F, -0.0F, 1e-8F, -1e-8F, 0.1F, 0.12F, -0.13F, 1,   9,
                            -9,   30,    -30,   87,     -88,  200,   -200,   inf, -inf};
  for (float x = -20; x < 20; x += 0.037F) values.push_back(x);
  const Array data = makeArray({static_cast<std::int64_t>(values.size())}, values);
  for (const Function function : {Function::sigmoid, Function::tanh, Function::softrelu}) {
    const Call call{
        .desc = PointwiseDesc{1, {{function, 0, 0}}, {1}}, .pass = Pass::inference, .inputs = {data}};
    const Answer expected = ask(*reference_, call), found = ask(*onednn_, call);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float a = found.outputs[0].floats()[i], b = expected.outputs[0].floats()[i];
      if (a == b) continue;
      EXPECT_LE(std::abs(a - b), 2e-6F * std::abs(b) + 1e-37F)
          << found.kernel->implementation() << " of " << values[i];
    }
  }
  const Call call{.desc = PointwiseDesc{1, {{Function::tanh, 0, 0}, {Function::sigmoid, 0, 0}}, {1, 2}},
                  .pass = Pass::inference,
                  .inputs = {makeArray({1}, {nan})}};
  for (const Array& out : ask(*onednn_, call).outputs) EXPECT_TRUE(std::isnan(out.floats()[0]));
}

// (a + b) relu, times c, with the sum as a second output; over an input in place.
TEST_F(Pointwise, ChainsAndOutputs) {
  const PointwiseDesc desc{
      3, {{Function::add, 0, 1}, {Function::relu, 3, 3}, {Function::multiply, 4, 2}}, {5, 3}};
  EXPECT_EQ(desc.toString(), "r3 = add r0 r1; r4 = relu r3; r5 = multiply r4 r2 -> r5 r3");
  const Array a = makeArray({3}, {1, 2, -3}), b = makeArray({3}, {1, -4, 1}),
              c = makeArray({3}, {10, 10, 10});
  const Pair out = compare({.desc = desc, .pass = Pass::inference, .inputs = {a, b, c}});
  EXPECT_EQ(rowMajorValues(*reference_, out.reference.outputs[0]), (std::vector<float>{20, 0, 0}));
  EXPECT_EQ(rowMajorValues(*reference_, out.reference.outputs[1]), (std::vector<float>{2, -2, -2}));
  const Answer in_place = ask(*onednn_, {.desc = desc,
                                         .pass = Pass::inference,
                                         .inputs = {a, b, c},
                                         .outputs = {a, makeArray({3}, {0, 0, 0})}});
  EXPECT_EQ(rowMajorValues(*onednn_, in_place.outputs[0]), (std::vector<float>{20, 0, 0}));
}

TEST_F(Pointwise, BlockedArraysStayBlocked) {
  const Shape shape{2, 32, 5, 5};
  const PointwiseDesc desc{2, {{Function::linear, 0, 0, 2, 1}, {Function::add, 2, 1}}, {3}};
  const Array a = random(shape), b = random(shape);
  const Array blocked = reordered(*onednn_, a, blockedLayout(*onednn_, shape));
  const Pair out = compare({.desc = desc, .pass = Pass::inference, .inputs = {a, b}},
                           {.desc = desc, .pass = Pass::inference, .inputs = {blocked, b}});
  EXPECT_NE(out.onednn.kernel->outputs()[0].layout, nullptr);
}

TEST_F(Pointwise, MistakesAreMessages) {
  const auto failure = [this](const PointwiseDesc& desc, const std::vector<Shape>& shapes) {
    return failureOf(*reference_, desc, Pass::inference, shapes);
  };
  EXPECT_THAT(failure({1, {{Function::add, 0, 1}}, {1}}, {{3}}),
              HasSubstr("reads a register that none has made"));
  EXPECT_THAT(failure({1, {{Function::relu, 0, 0}}, {2}}, {{3}}),
              HasSubstr("an output is a register that no instruction"));
  EXPECT_THAT(failure({1, {{Function::relu, 0, 0}}, {}}, {{3}}), HasSubstr("1 to 6 outputs"));
  EXPECT_THAT(failure({2, {{Function::add, 0, 1}}, {2}}, {{3}, {4}}), HasSubstr("must be 3"));
}

}  // namespace
}  // namespace pitwall::test::pointwise_test
