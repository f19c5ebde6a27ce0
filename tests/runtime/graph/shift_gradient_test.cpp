// The first BatchNorm of a network, whose beta alone has a gradient, and the convolution after it.
#include <gmock/gmock.h>

#include "tests/runtime/graph/training_check.h"

namespace pitwall::test::shift_gradient_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kJoined = "_backward_NormalizedConvolution bn_data+conv0";

Symbol firstLayers(const char* fix_gamma, bool is_read_twice = false) {
  const Symbol normal = node("BatchNorm", "bn_data", {Symbol::variable("data")}, {{"fix_gamma", fix_gamma}});
  Symbol first = relu("relu0", convolution("conv0", normal, 16));
  if (is_read_twice)
    first = node("elemwise_add", "sum", {first, relu("relu1", convolution("conv1", normal, 16))});
  const Symbol pooled =
      node("Pooling", "pool", {first}, {{"global_pool", "True"}, {"kernel", "(1, 1)"}, {"pool_type", "avg"}});
  return node("SoftmaxOutput", "softmax",
              {node("FullyConnected", "fc", {node("Flatten", "flat", {pooled})}, {{"num_hidden", "5"}})});
}

struct Trained {
  std::string plan;
  GradientValues gradients;
};

Trained train(const std::string& backend, const Symbol& symbol, const ProgramSettings& settings,
              GradientRequest of_data = GradientRequest::none) {
  const auto session = open(backend, settings);
  auto options = forTraining(symbol);
  if (of_data != GradientRequest::none) options.gradients["data"] = {{}, of_data};
  const auto executor = bindTraining(*session, symbol, labelled(*session, symbol, kTrainingImages), options);
  trainingStep(*executor);
  return {executor->describePlan(), gradientsOf(*executor, options)};
}

class ShiftGradient : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Backends, ShiftGradient, testing::Values("reference", "onednn"));

TEST_P(ShiftGradient, IsComputedWithoutThatOfTheData) {
  const Trained joined = train(GetParam(), firstLayers("True"), {}),
                apart = train(GetParam(), firstLayers("True"), {{"MXNET_SUBGRAPH_BACKEND", "NONE"}});
  EXPECT_THAT(joined.plan, HasSubstr(kJoined));
  EXPECT_THAT(apart.plan, Not(HasSubstr("_backward_NormalizedConvolution")));
  expectEqual(joined.gradients, apart.gradients, 1e-4F);
  for (const float gradient : joined.gradients.at("bn_data_gamma")) EXPECT_EQ(gradient, 0);
}

TEST_P(ShiftGradient, IsThatOfTheBatchNormWhereMoreIsNeeded) {
  EXPECT_THAT(train(GetParam(), firstLayers("False"), {}).plan, Not(HasSubstr(kJoined)))
      << "gamma has a gradient";
  EXPECT_THAT(train(GetParam(), firstLayers("True", true), {}).plan, Not(HasSubstr(kJoined)))
      << "a sum of two";
  EXPECT_THAT(train(GetParam(), firstLayers("True"), {}, GradientRequest::write).plan,
              Not(HasSubstr(kJoined)))
      << "so have the data";
}

}  // namespace
}  // namespace pitwall::test::shift_gradient_test
