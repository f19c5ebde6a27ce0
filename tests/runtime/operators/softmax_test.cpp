#include "tests/runtime/operators/operator_check.h"

namespace pitwall::test::softmax_test {
namespace {

using testing::HasSubstr;

struct SoftmaxCase {
  Shape shape;
  SoftmaxDesc desc;
};
const SoftmaxCase kCases[] = {
    {{7}, {}},
    {{4, 1000}, {}},
    {{3, 5}, {.axis = 0}},
    {{2, 17, 5, 3}, {}},
    {{2, 17, 5, 3}, {.axis = 1}},
    {{2, 17, 5, 3}, {.axis = 2, .temperature = 2.5F}},
    {{2, 3, 4, 2, 3}, {.axis = -2}},
    {{64, 33}, {.temperature = 0.5F}},
    {{3, 1}, {}},
    {{4, 1000}, {.logarithm = true}},
    {{2, 17, 5, 3}, {.axis = 1, .logarithm = true}},
    {{3, 5}, {.axis = 0, .temperature = 2, .logarithm = true}},
};

class Softmax : public KeepsLayoutCheck {};

TEST_F(Softmax, BackendsAgreeInEveryLayout) {
  for (const auto& [shape, desc] : kCases) {
    const Array data = random(shape);
    for (std::int64_t i = 0; i < shape.elements(); ++i) data.floats()[i] *= 10;
    compareInEveryLayout(desc, data);
  }
}

TEST_F(Softmax, BackendsAgree) {
  for (const auto& [shape, desc] : kCases) {
    const Array data = random(shape);
    compare({.desc = desc, .pass = Pass::inference, .inputs = {data}});
    const Pair out = compare({.desc = desc, .inputs = {data}});
    compare({.desc = desc, .pass = Pass::backward, .inputs = {out.reference.outputs.at(0), random(shape)}},
            1e-4);
  }
}

TEST_F(Softmax, ByHand) {
  const float ln3 = std::log(3.0F);
  const Pair out = compare({.desc = SoftmaxDesc{}, .inputs = {makeArray({2, 2}, {0, ln3, 500, 500})}});
  const auto values = rowMajorValues(*reference_, out.reference.outputs.at(0));
  const float expected[] = {0.25F, 0.75F, 0.5F, 0.5F};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(values[i], expected[i], 1e-6F);
}

// Of scores whose exponentials are 0 and infinite in float32.
TEST_F(Softmax, LogarithmByHand) {
  const float ln3 = std::log(3.0F);
  const SoftmaxDesc desc{.logarithm = true};
  const Pair out = compare({.desc = desc, .inputs = {makeArray({2, 2}, {0, ln3, -200, 200})}});
  const auto values = rowMajorValues(*onednn_, out.onednn.outputs.at(0));
  const float expected[] = {-std::log(4.0F), std::log(0.75F), -400, 0};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(values[i], expected[i], 1e-5F) << i;
  const Array log_half = makeArray({1, 2}, {-std::log(2.0F), -std::log(2.0F)});
  const Pair gradient =
      compare({.desc = desc, .pass = Pass::backward, .inputs = {log_half, makeArray({1, 2}, {3, 1})}});
  EXPECT_NEAR(gradient.onednn.outputs.at(0).floats()[0], 3 - 0.5F * 4, 1e-6F);
  EXPECT_NEAR(gradient.onednn.outputs.at(0).floats()[1], 1 - 0.5F * 4, 1e-6F);
}

TEST_F(Softmax, MistakesAreMessages) {
  Backend& backend = *reference_;
  EXPECT_THAT(failureOf(backend, SoftmaxDesc{.axis = 3}, Pass::forward, {{2, 3}}),
              HasSubstr("softmax forward(2x3): there is no axis 3 in 2x3"));
  EXPECT_THAT(failureOf(backend, SoftmaxDesc{.temperature = 0}, Pass::forward, {{2}}),
              HasSubstr("temperature is 0"));
  EXPECT_THAT(failureOf(backend, SoftmaxDesc{}, Pass::backward, {{2}, {3}}),
              HasSubstr("dout has shape 3, must be 2"));
  EXPECT_THAT(failureOf(backend, SoftmaxDesc{}, Pass::forward, {{2}, {3}}), HasSubstr("takes 1 arrays"));
}

class SoftmaxGradient : public GradientCheck {};

TEST_P(SoftmaxGradient, OfTheKernel) {
  for (const SoftmaxDesc& desc : {SoftmaxDesc{}, SoftmaxDesc{.axis = 1, .temperature = 0.7F},
                                  SoftmaxDesc{.axis = 1, .temperature = 0.7F, .logarithm = true}}) {
    const Array data = random({3, 4, 2}), dout = random({3, 4, 2});
    const Call forward{.desc = desc, .inputs = {data}};
    const Array out = ask(*backend_, forward).outputs.at(0);
    expectGradient(forward, 0, dout, {.desc = desc, .pass = Pass::backward, .inputs = {out, dout}});
  }
}

TEST_P(SoftmaxGradient, OfTheCall) {
  const auto session = openSession(GetParam());
  ASSERT_NE(session, nullptr);
  checkGradients(*session, {"softmax", {{3, 4}}, [](Arrays& a) { return op::softmax(a[0]); }});
  checkGradients(*session,
                 {"log_softmax", {{3, 4}}, [](Arrays& a) { return op::softmax(a[0], {.logarithm = true}); }});
}

INSTANTIATE_TEST_SUITE_P(Backends, SoftmaxGradient, testing::Values("reference", "onednn"), namesOf());

}  // namespace
}  // namespace pitwall::test::softmax_test
