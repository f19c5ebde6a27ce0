// Results of the forward pass that the backward pass computes again: less memory, the same gradients.
#include <gmock/gmock.h>

#include "tests/runtime/graph/training_check.h"

namespace pitwall::test::recompute_results_test {
namespace {

using testing::HasSubstr;
using testing::Not;

const Shape kLarge{2, 3, 96, 96};  // results of 16 channels have more than 1 MiB
const ProgramSettings kKept{{"MXNET_SUBGRAPH_BACKEND", "NONE"}}, kMirror{{"MXNET_BACKWARD_DO_MIRROR", "1"}};

struct Trained {
  Bytes planned = 0;
  std::string backward;   // the plan of the backward pass
  GradientValues values;  // gradients and running statistics
};

Trained train(const std::string& backend, const ProgramSettings& settings, const Symbol& symbol,
              const Shape& data) {
  const auto session = open(backend, settings);
  const auto options = forTraining(symbol);
  const ArraysByName arrays = labelled(*session, symbol, data);
  const auto executor = bindTraining(*session, symbol, arrays, options);
  for (int i = 0; i < 2; ++i) trainingStep(*executor);
  const std::string plan = executor->describePlan();
  Trained trained{executor->memory().planned, plan.substr(plan.find("_backward_")),
                  gradientsOf(*executor, options)};
  for (const std::string& state : symbol.auxiliaryStates())
    trained.values[state] = *arrays.at(state).toVector();
  return trained;
}

class RecomputeResults : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Backends, RecomputeResults, testing::Values("reference", "onednn"));

TEST_P(RecomputeResults, LargeOnesOfABatchNorm) {
  const Trained kept = train(GetParam(), kKept, network(), kLarge),
                now = train(GetParam(), {}, network(), kLarge);
  EXPECT_THAT(kept.backward, Not(HasSubstr(" BatchNorm ")));
  EXPECT_THAT(now.backward, HasSubstr(" BatchNorm bn3+relu3"));
  EXPECT_THAT(now.backward, HasSubstr(" BatchNorm bn1+relu1")) << "what it makes is also added to another";
  EXPECT_THAT(now.backward, Not(HasSubstr(" Convolution ")));
  EXPECT_LT(now.planned, kept.planned);
  expectEqual(now.values, kept.values, 2e-4F);
}

TEST_P(RecomputeResults, SmallOnesAreKept) {
  EXPECT_THAT(train(GetParam(), {}, network(), kTrainingImages).backward, Not(HasSubstr(" BatchNorm ")));
}

// A backend may keep more of it than its result.
TEST_P(RecomputeResults, WhatAnLrnKeeps) {
  const Symbol first = relu("relu1", convolution("conv1", Symbol::variable("data"), 16));
  const Symbol normal = node("LRN", "norm", {first}, {{"nsize", "5"}, {"alpha", "0.01"}});
  const Symbol pooled = node("Pooling", "pool", {normal},
                             {{"global_pool", "True"}, {"kernel", "(1, 1)"}, {"pool_type", "avg"}});
  const Symbol symbol =
      node("SoftmaxOutput", "softmax",
           {node("FullyConnected", "fc", {node("Flatten", "flat", {pooled})}, {{"num_hidden", "5"}})});
  const Trained kept = train(GetParam(), kKept, symbol, kLarge), now = train(GetParam(), {}, symbol, kLarge);
  EXPECT_THAT(kept.backward, Not(HasSubstr(" LRN ")));
  EXPECT_THAT(now.backward, HasSubstr(" LRN norm"));
  EXPECT_LE(now.planned, kept.planned);
  expectEqual(now.values, kept.values, 1e-4F);
}

TEST_P(RecomputeResults, MirroringComputesConvolutionsAgain) {
  const Trained kept = train(GetParam(), {}, network(), kLarge),
                now = train(GetParam(), kMirror, network(), kLarge);
  EXPECT_THAT(now.backward, HasSubstr(" Convolution conv1"));
  EXPECT_LT(now.planned, kept.planned);
  expectEqual(now.values, kept.values, 2e-4F);
}

// A chain of units, of which about every second result is kept.
Symbol residualChain(int units) {
  Symbol sum = convolution("stem", Symbol::variable("data"), 16);
  for (int i = 0; i < units; ++i) {
    const std::string unit = "unit" + std::to_string(i);
    const Symbol normal =
        relu(unit + "_relu", node("BatchNorm", unit + "_bn", {sum}, {{"fix_gamma", "False"}}));
    sum = node("elemwise_add", unit + "_sum", {convolution(unit + "_conv", normal, 16), sum});
  }
  const Symbol pooled =
      node("Pooling", "pool", {sum}, {{"global_pool", "True"}, {"kernel", "(1, 1)"}, {"pool_type", "avg"}});
  return node("SoftmaxOutput", "softmax",
              {node("FullyConnected", "fc", {node("Flatten", "flat", {pooled})}, {{"num_hidden", "5"}})});
}

TEST(RecomputeResultsOfChains, MirroringHalvesTheMemoryOfADeepNetwork) {
  const Shape images{2, 3, 24, 24};
  const Symbol symbol = residualChain(12);
  const Trained kept = train("onednn", kKept, symbol, images), now = train("onednn", kMirror, symbol, images);
  EXPECT_LT(now.planned * 2, kept.planned);
  expectEqual(now.values, kept.values, 5e-4F);
}

// Each function's gradient reads its result: none may need more than a few operations.
TEST(RecomputeResultsOfChains, ALongChainOfFunctions) {
  Symbol x = Symbol::variable("x_weight");
  for (int i = 0; i < 3000; ++i) x = node("tanh", "t" + std::to_string(i), {x});
  const auto run = [&](const ProgramSettings& settings) {
    const auto session = open("onednn", settings);
    const NDArray values = NDArray::fromValues(*session, {2}, std::vector<float>{0.5F, -1});
    const auto executor = bindTraining(*session, x, {{"x_weight", values}}, forTraining(x));
    const NDArray head = NDArray::fromValues(*session, {2}, std::vector<float>{1, 1});
    trainingStep(*executor, {&head, 1});
    const std::string plan = executor->describePlan();
    return std::pair(std::count(plan.begin(), plan.end(), '\n'), *executor->gradient("x_weight").toVector());
  };
  const auto [operations, expected] = run({{"MXNET_USE_FUSION", "0"}});
  const auto [mirrored, gradient] = run(kMirror);
  EXPECT_GT(mirrored, operations);
  EXPECT_LT(mirrored, 2 * operations);
  EXPECT_EQ(gradient, expected);
}

}  // namespace
}  // namespace pitwall::test::recompute_results_test
