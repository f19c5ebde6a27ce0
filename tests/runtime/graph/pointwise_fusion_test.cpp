// Chains of functions of each element run as one kernel, in inference and training, with the results of the single ones.
#include <gmock/gmock.h>

#include "tests/runtime/graph/training_check.h"

namespace pitwall::test::pointwise_fusion_test {
namespace {

using testing::HasSubstr;
using testing::Not;

Symbol scaled(const std::string& name, const Symbol& data, const char* op, const char* scalar) {
  return node(op, name, {data}, {{"scalar", scalar}});
}

// A gated layer, a hard swish, a branch whose middle is needed elsewhere, and a residual sum.
Symbol chains() {
  const Symbol data = convolution("conv", Symbol::variable("data"), 8);
  const Symbol gate = node("sigmoid", "gate", {data}), value = node("tanh", "value", {data});
  const Symbol gated = node("elemwise_mul", "gated", {gate, value});
  const Symbol shifted = node("clip", "clipped", {scaled("shifted", gated, "_plus_scalar", "0.3")},
                              {{"a_min", "0"}, {"a_max", "0.6"}});
  const Symbol swish = scaled("sixth", node("elemwise_mul", "swish", {gated, shifted}), "_div_scalar", "6");
  const Symbol sum = node("add_n", "sum", {swish, gated, data}, {{"num_args", "3"}});
  const Symbol inverse = scaled(
      "inverse", scaled("far", node("relu", "positive", {sum}), "_plus_scalar", "2"), "_rdiv_scalar", "3");
  const Symbol pooled = node("Pooling", "pool", {node("broadcast_sub", "difference", {inverse, swish})},
                             {{"kernel", "(2, 2)"}, {"stride", "(2, 2)"}, {"pool_type", "avg"}});
  return node("SoftmaxOutput", "softmax",
              {node("FullyConnected", "fc", {node("Flatten", "flat", {pooled})}, {{"num_hidden", "5"}})});
}

std::string planOf(const ProgramSettings& settings, bool training) {
  const auto session = open("onednn", settings);
  const auto arrays = labelled(*session, chains(), kTrainingImages);
  const auto executor =
      bindTraining(*session, chains(), arrays, training ? forTraining(chains()) : Executor::Options{});
  return executor == nullptr ? "" : executor->describePlan();
}

int kernelsOf(const std::string& plan) {
  return static_cast<int>(std::count(plan.begin(), plan.end(), '\n'));
}

TEST(PointwiseFusion, ChainsAreOneKernel) {
  const std::string fused = planOf({}, false), single = planOf({{"MXNET_USE_FUSION", "0"}}, false);
  EXPECT_THAT(
      fused,
      HasSubstr(
          "_FusedOp gate+value+gated+shifted+clipped+swish+sixth+sum+positive+far+inverse+difference:"));
  EXPECT_THAT(single, Not(HasSubstr("_FusedOp")));
  EXPECT_EQ(kernelsOf(single) - kernelsOf(fused), 11);
  const std::string training = planOf({}, true), apart = planOf({{"MXNET_USE_FUSION", "0"}}, true);
  EXPECT_GE(kernelsOf(apart) - kernelsOf(training), 16) << training;
}

TEST(PointwiseFusion, ResultsAndGradientsStay) {
  for (const char* backend : {"reference", "onednn"}) {
    for (const char* mirror : {"0", "1"}) {
      OutputValues expected, found;
      const auto single =
          gradientsWith(backend, {{"MXNET_USE_FUSION", "0"}}, chains(), kTrainingImages, &expected);
      const auto fused =
          gradientsWith(backend, {{"MXNET_BACKWARD_DO_MIRROR", mirror}}, chains(), kTrainingImages, &found);
      expectNear(found, expected, 1e-5F);
      expectEqual(fused, single, 1e-4F);
    }
  }
}

TEST(PointwiseFusion, InferenceGivesTheSame) {
  const auto outputs = [](const char* fusion) {
    const auto session = open("onednn", {{"MXNET_USE_FUSION", fusion}});
    const auto executor = bindTraining(*session, chains(), labelled(*session, chains(), kTrainingImages), {});
    EXPECT_TRUE(executor->forward().has_value());
    return valuesOf(*executor);
  };
  expectNear(outputs("1"), outputs("0"), 1e-5F);
}

TEST(PointwiseFusion, IsPrintedOnRequest) {
  testing::internal::CaptureStderr();
  planOf({{"MXNET_FUSION_VERBOSE", "1"}}, false);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("r1 = sigmoid r0; r2 = tanh r0; r3 = multiply r1 r2; r4 = linear r3 1 0.3"));
}

// A function of another shape, and what is not of each element, end a chain.
TEST(PointwiseFusion, OtherOperatorsEndAChain) {
  const Symbol data = Symbol::variable("data");
  const Symbol net =
      node("relu", "after",
           {node("sum", "total", {node("tanh", "before", {data})}, {{"axis", "1"}, {"keepdims", "True"}})});
  const auto session = open("onednn");
  const auto executor = bindTraining(*session, net, arraysOf(*session, net, {4, 6}), {});
  ASSERT_NE(executor, nullptr);
  EXPECT_THAT(executor->describePlan(), Not(HasSubstr("_FusedOp")));
}

}  // namespace
}  // namespace pitwall::test::pointwise_fusion_test
