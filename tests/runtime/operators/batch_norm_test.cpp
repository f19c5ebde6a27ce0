#include "tests/runtime/operators/operator_check.h"

namespace pitwall::test::batch_norm_test {
namespace {

using testing::HasSubstr;

const BatchNormDesc kForms[] = {
    {.epsilon = 1e-3F, .fix_gamma = true},
    {.epsilon = 1e-3F, .use_global_stats = true},
    {.epsilon = 1e-3F, .fix_gamma = true, .use_global_stats = true},
};

class BatchNormForms : public ConformanceCheck {
 protected:
  Array positive(const Shape& shape) {
    const Array array = random(shape);
    for (std::int64_t i = 0; i < shape.elements(); ++i)
      array.floats()[i] = std::abs(array.floats()[i]) + 0.5F;
    return array;
  }
};

TEST_F(BatchNormForms, BackendsAgreeInEveryLayout) {
  for (const Shape& shape : {Shape{2, 17, 5, 3}, Shape{4, 16, 4, 4}, Shape{6, 3}}) {
    const Shape channels{shape[1]};
    const Array data = random(shape), dout = random(shape), gamma = positive(channels),
                beta = random(channels), mean = random(channels), variance = positive(channels);
    for (const LayoutPtr& layout : layoutsFor(*onednn_, shape)) {
      const Array arranged = reordered(*onednn_, data, layout);
      for (const BatchNormDesc& desc : kForms) {
        for (const bool relu : {false, true}) {
          BatchNormDesc fused = desc;
          fused.relu = relu;
          compare(
              {.desc = fused, .pass = Pass::inference, .inputs = {data, gamma, beta, mean, variance}},
              {.desc = fused, .pass = Pass::inference, .inputs = {arranged, gamma, beta, mean, variance}});
        }
        compareTrainingBatchNorm(desc, {data, gamma, beta, mean, variance, dout}, layout);
      }
    }
  }
}

TEST_F(BatchNormForms, GlobalStatisticsStayAsTheyAre) {
  const Array data = random({4, 2}), gamma = makeArray({2}, {9, 9}), beta = makeArray({2}, {1, 2});
  const Array mean = makeArray({2}, {0.5F, -0.5F}), variance = makeArray({2}, {4, 1});
  const BatchNormDesc desc{.epsilon = 0, .fix_gamma = true, .use_global_stats = true};
  const Pair out =
      compare({.desc = desc, .inputs = {data, gamma, beta}, .outputs = {{}, {}, {}, mean, variance}});
  for (const Answer* answer : {&out.reference, &out.onednn}) {
    for (const std::size_t i : {1U, 3U})
      EXPECT_EQ(rowMajorValues(*onednn_, answer->outputs.at(i)), (std::vector<float>{0.5F, -0.5F}));
    for (const std::size_t i : {2U, 4U})
      EXPECT_EQ(rowMajorValues(*onednn_, answer->outputs.at(i)), (std::vector<float>{4, 1}));
    EXPECT_NEAR(answer->outputs[0].floats()[0], (data.floats()[0] - 0.5F) / 2 + 1, 1e-6F) << "gamma is 1";
  }
}

TEST_F(BatchNormForms, AFusedReluIsForInference) {
  EXPECT_THAT(failureOf(*reference_, BatchNormDesc{.relu = true}, Pass::forward, {{2, 3}, {3}, {3}}),
              HasSubstr("a fused relu is for inference only"));
}

class BatchNormFormsGradient : public GradientCheck {};

TEST_P(BatchNormFormsGradient, OfTheKernel) {
  for (BatchNormDesc desc : kForms) {
    desc.epsilon = 1e-2F;
    const Shape shape{3, 2, 3, 2};
    const Array data = random(shape), gamma = random({2}), dout = random(shape);
    const Array mean = random({2}), variance = makeArray({2}, {0.4F, 0.7F});
    const Call forward{
        .desc = desc, .inputs = {data, gamma, random({2})}, .outputs = {{}, {}, {}, mean, variance}};
    const Answer out = ask(*backend_, forward);
    const Call backward{.desc = desc,
                        .pass = Pass::backward,
                        .inputs = {data, gamma, out.outputs.at(1), out.outputs.at(2), dout}};
    for (std::size_t i = 0; i < 3; ++i) expectGradient(forward, i, dout, backward, i);
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, BatchNormFormsGradient, testing::Values("reference", "onednn"), namesOf());

}  // namespace
}  // namespace pitwall::test::batch_norm_test
