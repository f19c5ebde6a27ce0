#include "tests/runtime/gpu/short_backend.h"
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

// Beside channels that are whole vectors, some that are not; and so few that threads share them.
TEST_F(BatchNormForms, TrainsWithARelu) {
  for (const Shape& shape :
       {Shape{2, 17, 5, 3}, Shape{4, 16, 4, 4}, Shape{3, 40, 20, 20}, Shape{6, 3}, Shape{3, 150, 3, 7},
        Shape{300, 70}, Shape{5, 3, 40, 40}, Shape{6, 48, 20, 20}, Shape{7, 1, 3}, Shape{5, 17, 1, 1}}) {
    const Shape channels{shape[1]};
    const Array data = random(shape), dout = random(shape), gamma = positive(channels),
                beta = random(channels), mean = random(channels), variance = positive(channels);
    for (const LayoutPtr& layout : layoutsFor(*onednn_, shape)) {
      const Array arranged = reordered(*onednn_, data, layout);
      for (BatchNormDesc desc : kForms) {
        desc.relu = true;
        const std::vector<Array> state{{}, {}, {}, mean, variance};
        const Pair out = compare({.desc = desc, .inputs = {data, gamma, beta}, .outputs = state},
                                 {.desc = desc, .inputs = {arranged, gamma, beta}, .outputs = state});
        if (!out.onednn.kernel) continue;
        const Array &m = out.reference.outputs[1], &v = out.reference.outputs[2];
        compare({.desc = desc, .pass = Pass::backward, .inputs = {data, gamma, m, v, dout, beta}},
                {.desc = desc, .pass = Pass::backward, .inputs = {arranged, gamma, m, v, dout, beta}}, 1e-4);
      }
    }
  }
}

// The arrays of the tests begin as NaN: a kernel that leaves padding out would leave that there.
TEST_F(BatchNormForms, TrainingWritesZerosWhereChannelsArePadded) {
  if (testedShortType()) GTEST_SKIP() << "of the layouts of float32";
  for (const Shape& shape : {Shape{5, 17, 1, 1}, Shape{2, 17, 5, 3}}) {
    const Shape channels{shape[1]};
    const Array gamma = positive(channels), beta = random(channels), mean = random(channels);
    for (const LayoutPtr& layout : layoutsFor(*onednn_, shape)) {
      const Array data = reordered(*onednn_, random(shape), layout),
                  dout = reordered(*onednn_, random(shape), layout);
      const BatchNormDesc desc{.relu = true};
      const Answer forward = ask(
          *onednn_,
          {.desc = desc, .inputs = {data, gamma, beta}, .outputs = {{}, {}, {}, mean, positive(channels)}});
      const Answer backward =
          ask(*onednn_, {.desc = desc,
                         .pass = Pass::backward,
                         .inputs = {data, gamma, forward.outputs.at(1), forward.outputs.at(2), dout, beta}});
      for (const Array* array : {&forward.outputs[0], &backward.outputs[0]})
        for (std::int64_t i = 0; i < array->spec.sizeBytes() / 4; ++i)
          ASSERT_FALSE(std::isnan(array->floats()[i])) << shape.toString() << " " << i;
    }
  }
}

// Numbers that hardly differ: their squares have no digits left for the variance.
TEST_F(BatchNormForms, TheVarianceOfALargeMeanIsExact) {
  if (testedShortType()) GTEST_SKIP() << "16 bits do not hold such numbers";
  for (const Shape& shape : {Shape{4, 16, 8, 8}, Shape{4, 3, 8, 8}}) {
    Array data = random(shape);
    for (std::int64_t i = 0; i < shape.elements(); ++i) data.floats()[i] = 1000 + data.floats()[i] / 16;
    const Shape channels{shape[1]};
    const Array gamma = positive(channels), beta = random(channels);
    for (const LayoutPtr& layout : layoutsFor(*onednn_, shape)) {
      const std::vector<Array> state{{}, {}, {}, random(channels), positive(channels)};
      const Pair out = compare({.desc = BatchNormDesc{}, .inputs = {data, gamma, beta}, .outputs = state},
                               {.desc = BatchNormDesc{},
                                .inputs = {reordered(*onednn_, data, layout), gamma, beta},
                                .outputs = state},
                               1e-2);
      const auto expected = rowMajorValues(*reference_, out.reference.outputs[2]),
                 found = rowMajorValues(*onednn_, out.onednn.outputs[2]);
      for (std::size_t c = 0; c < expected.size(); ++c) EXPECT_NEAR(found[c] / expected[c], 1, 1e-2) << c;
    }
  }
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
