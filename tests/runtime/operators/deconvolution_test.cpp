#include "tests/runtime/operators/operator_check.h"

namespace pitwall::test::deconvolution_test {
namespace {

using testing::HasSubstr;

struct DeconvolutionCase {
  Shape data;
  DeconvolutionDesc desc;
};
const DeconvolutionCase kCases[] = {
    {{1, 1, 1, 1}, {}},
    {{2, 16, 5, 4}, {.kernel = {4, 4}, .stride = {2, 2}, .pad = {1, 1}, .channels = 32}},
    {{2, 17, 5, 5}, {.kernel = {3, 3}, .stride = {2, 3}, .pad = {1, 0}, .adjust = {1, 2}, .channels = 19}},
    {{1, 8, 6, 5}, {.kernel = {3, 2}, .dilate = {2, 1}, .channels = 12, .groups = 4, .bias = false}},
    {{2, 19, 7, 7},
     {.kernel = {4, 4}, .stride = {2, 2}, .pad = {1, 1}, .channels = 19, .groups = 19, .bias = false}},
};

Shape weightOf(const DeconvolutionCase& c) {
  return {c.data[1], c.desc.channels / c.desc.groups, c.desc.kernel[0], c.desc.kernel[1]};
}

class Deconvolution : public ConformanceCheck {};

TEST_F(Deconvolution, BackendsAgree) {
  for (const DeconvolutionCase& c : kCases) {
    const Array data = random(c.data), weight = random(weightOf(c));
    Call forward{.desc = c.desc, .inputs = {data, weight}};
    if (c.desc.bias) forward.inputs.push_back(random({c.desc.channels}));
    const Pair out = compare(forward);
    if (!out.onednn.kernel) continue;
    const Array dout = random(out.reference.outputs[0].spec.shape);
    const TensorSpec& kept = out.onednn.kernel->inputs()[1];
    compare({.desc = c.desc, .pass = Pass::backwardData, .inputs = {dout, weight}, .like = &data.spec},
            {.desc = c.desc,
             .pass = Pass::backwardData,
             .inputs = {dout, reordered(*onednn_, weight, kept.layout)},
             .like = &data.spec});
    compare({.desc = c.desc, .pass = Pass::backwardWeights, .inputs = {data, dout}, .like = &weight.spec});
    compare({.desc = c.desc, .pass = Pass::backwardWeights, .inputs = {data, dout}},
            {.desc = c.desc, .pass = Pass::backwardWeights, .inputs = {data, dout}, .like = &kept});
  }
}

TEST_F(Deconvolution, ByHand) {
  const DeconvolutionDesc desc{.kernel = {1, 3}, .stride = {1, 2}, .channels = 1};
  const Pair out = compare({.desc = desc,
                            .inputs = {makeArray({1, 1, 1, 2}, {1, 10}), makeArray({1, 1, 1, 3}, {1, 2, 3}),
                                       makeArray({1}, {100})}});
  EXPECT_EQ(rowMajorValues(*reference_, out.reference.outputs.at(0)),
            (std::vector<float>{101, 102, 113, 120, 130}));
}

TEST_F(Deconvolution, MistakesAreMessages) {
  Backend& backend = *reference_;
  EXPECT_THAT(
      failureOf(backend, DeconvolutionDesc{.bias = false}, Pass::forward, {{1, 2, 3, 3}, {1, 2, 1, 1}}),
      HasSubstr("Deconvolution forward(1x2x3x3, 1x2x1x1): weight has shape 1x2x1x1, must be 2x1x1x1"));
  EXPECT_THAT(failureOf(backend, DeconvolutionDesc{.adjust = {1, 0}, .bias = false}, Pass::forward,
                        {{1, 1, 3, 3}, {1, 1, 1, 1}}),
              HasSubstr("adjust 1: must be at least 0 and less than the stride 1"));
  EXPECT_THAT(failureOf(backend, DeconvolutionDesc{.pad = {2, 2}, .bias = false}, Pass::forward,
                        {{1, 1, 3, 3}, {1, 1, 1, 1}}),
              HasSubstr("leaves nothing of the output"));
  EXPECT_THAT(failureOf(backend, DeconvolutionDesc{.channels = 3, .groups = 2}, Pass::forward,
                        {{1, 2, 3, 3}, {2, 1, 1, 1}, {3}}),
              HasSubstr("2 groups must divide"));
}

class DeconvolutionGradient : public GradientCheck {};

TEST_P(DeconvolutionGradient, OfTheKernel) {
  const DeconvolutionCase c{
      {1, 4, 3, 2},
      {.kernel = {3, 2}, .stride = {2, 1}, .pad = {1, 0}, .adjust = {1, 0}, .channels = 2, .groups = 2}};
  expectWeightedGradients(c.desc, c.data, weightOf(c), {2});
}

TEST_P(DeconvolutionGradient, OfTheCall) {
  const auto session = openSession(GetParam());
  ASSERT_NE(session, nullptr);
  checkGradients(
      *session,
      {"deconvolution", {{1, 2, 3, 2}, {2, 3, 2, 2}, {3}}, [](Arrays& a) {
         return op::deconvolution(a[0], {a[1], a[2]}, {.kernel = {2, 2}, .stride = {2, 2}, .channels = 3});
       }});
}

INSTANTIATE_TEST_SUITE_P(Backends, DeconvolutionGradient, testing::Values("reference", "onednn"), namesOf());

}  // namespace
}  // namespace pitwall::test::deconvolution_test
