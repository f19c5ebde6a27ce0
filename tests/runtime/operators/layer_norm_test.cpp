#include "tests/runtime/operators/operator_check.h"

namespace pitwall::test::layer_norm_test {
namespace {

using testing::HasSubstr;

class LayerNorm : public ConformanceCheck {};

TEST_F(LayerNorm, BackendsAgree) {
  for (const Shape& shape : {Shape{5}, Shape{4, 33}, Shape{2, 7, 64}, Shape{2, 17, 5, 3}, Shape{3, 1000}}) {
    const Shape features{shape[shape.rank() - 1]};
    const LayerNormDesc desc{1e-3F};
    const Array data = random(shape), gamma = random(features), beta = random(features), dout = random(shape);
    compare({.desc = desc, .pass = Pass::inference, .inputs = {data, gamma, beta}});
    const Pair out = compare({.desc = desc, .inputs = {data, gamma, beta}});
    if (!out.onednn.kernel) continue;
    compare({.desc = desc,
             .pass = Pass::backward,
             .inputs = {data, gamma, out.reference.outputs[1], out.reference.outputs[2], dout}},
            1e-4);
  }
}

TEST_F(LayerNorm, ByHand) {
  const Array data = makeArray({1, 2}, {1, 3}), gamma = makeArray({2}, {1, 2}), beta = makeArray({2}, {0, 1});
  const Pair out = compare({.desc = LayerNormDesc{1e-12F}, .inputs = {data, gamma, beta}});
  EXPECT_EQ(rowMajorValues(*reference_, out.reference.outputs.at(0)), (std::vector<float>{-1, 3}));
}

TEST_F(LayerNorm, MistakesAreMessages) {
  Backend& backend = *reference_;
  EXPECT_THAT(failureOf(backend, LayerNormDesc{}, Pass::forward, {{2, 3}, {2}, {3}}),
              HasSubstr("LayerNorm forward(2x3, 2, 3): gamma has shape 2, must be 3"));
  EXPECT_THAT(failureOf(backend, LayerNormDesc{0}, Pass::forward, {{2, 3}, {3}, {3}}),
              HasSubstr("epsilon 0"));
  EXPECT_THAT(failureOf(backend, LayerNormDesc{}, Pass::backward, {{2, 3}, {3}, {3}, {2}, {2, 3}}),
              HasSubstr("saved_mean has shape 3, must be 2"));
}

class LayerNormGradient : public GradientCheck {};

TEST_P(LayerNormGradient, OfTheKernel) {
  const LayerNormDesc desc{1e-2F};
  const Array data = random({3, 4}), gamma = random({4}), dout = random({3, 4});
  const Call forward{.desc = desc, .inputs = {data, gamma, random({4})}};
  const Answer out = ask(*backend_, forward);
  const Call backward{.desc = desc,
                      .pass = Pass::backward,
                      .inputs = {data, gamma, out.outputs.at(1), out.outputs.at(2), dout}};
  for (std::size_t i = 0; i < 3; ++i) expectGradient(forward, i, dout, backward, i);
}

TEST_P(LayerNormGradient, OfTheCall) {
  const auto session = openSession(GetParam());
  ASSERT_NE(session, nullptr);
  checkGradients(*session, {"layerNorm", {{2, 4}, {4}, {4}}, [](Arrays& a) {
                              return op::layerNorm(a[0], a[1], a[2], {1e-2F});
                            }});
}

INSTANTIATE_TEST_SUITE_P(Backends, LayerNormGradient, testing::Values("reference", "onednn"), namesOf());

}  // namespace
}  // namespace pitwall::test::layer_norm_test
