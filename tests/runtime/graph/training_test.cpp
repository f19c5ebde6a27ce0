// Executors in training: gradients beside those of recorded operators, requests, states.
#include <gmock/gmock.h>

#include "runtime/autograd.h"
#include "runtime/operators.h"
#include "tests/runtime/graph/training_check.h"

namespace pitwall::test::training_test {
namespace {

using testing::HasSubstr;
using Mode = Executor::Mode;

// The network of executor_check.h by operators on arrays.
NDArray recorded(ArraysByName& a) {
  const auto conv = [&](const NDArray& x, const std::string& name, int channels, bool bias = false) {
    return madeArray(
        op::convolution(x, {a[name + "_weight"], bias ? a[name + "_bias"] : NDArray()},
                        {.kernel = {3, 3}, .pad = {1, 1}, .channels = channels, .groups = 1, .bias = bias}));
  };
  const auto norm = [&](const NDArray& x, const std::string& name, bool fix_gamma, float epsilon = 1e-3F) {
    return madeArray(op::batchNorm(
        x, {a[name + "_gamma"], a[name + "_beta"], a[name + "_moving_mean"], a[name + "_moving_var"]},
        {.epsilon = epsilon, .fix_gamma = fix_gamma}));
  };
  const auto activated = [](const NDArray& x) {
    return madeArray(op::activation(x, {ActivationType::relu}));
  };
  const auto dense = [&](const NDArray& x, const std::string& name, int units) {
    return madeArray(op::fullyConnected(x, {a[name + "_weight"], a[name + "_bias"]}, {.units = units}));
  };
  NDArray x = activated(norm(conv(a["data"], "conv1", 16), "bn1", false));
  x = activated(madeArray(op::add(norm(conv(x, "conv2", 16, true), "bn2", true), x)));
  x = madeArray(op::add(conv(activated(norm(x, "bn3", false, 2e-5F)), "conv3", 16), x));
  const NDArray pooled = madeArray(op::pooling(x, {.kernel = {2, 2}, .stride = {2, 2}}));
  const NDArray parts[] = {activated(conv(pooled, "conv4", 24, true)), pooled};
  x = madeArray(op::pooling(madeArray(op::concat(parts)), {.type = PoolingType::average, .global = true}));
  x = activated(dense(madeArray(op::flatten(x)), "fc1", 12));
  return madeArray(op::softmaxOutput(dense(x, "fc2", 5), a["softmax_label"]));
}

class Training : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Backends, Training, testing::Values("reference", "onednn"));

TEST_P(Training, GradientsAreThoseOfRecordedOperators) {
  const auto session = open(GetParam());
  const Symbol symbol = network();
  ArraysByName arrays = labelled(*session, symbol, kTrainingImages),
               copies = labelled(*session, symbol, kTrainingImages);
  const auto options = forTraining(symbol);
  for (const auto& [name, gradient] : options.gradients) copies[name].attachGradient();
  const NDArray out = madeArray(autograd::record([&] { return recorded(copies); }));
  ASSERT_TRUE(autograd::backward(out).has_value());
  const auto executor = bindTraining(*session, symbol, arrays, options);
  ASSERT_NE(executor, nullptr);
  trainingStep(*executor);
  expectNear(valuesOf(*executor), {*out.toVector()}, 1e-5F);
  GradientValues expected;
  for (const auto& [name, gradient] : options.gradients) expected[name] = *copies[name].gradient().toVector();
  expectEqual(gradientsOf(*executor, options), expected, 1e-4F);
  for (const std::string& name : symbol.auxiliaryStates())
    expectNear({*arrays[name].toVector()}, {*copies[name].toVector()}, 1e-5F);
}

// As a user trains: the weights change between the steps, and nothing waits for it.
TEST_P(Training, StepsAfterUpdatesAreThoseOfRecordedOperators) {
  const auto session = open(GetParam());
  const Symbol symbol = network();
  ArraysByName arrays = labelled(*session, symbol, kTrainingImages),
               copies = labelled(*session, symbol, kTrainingImages);
  auto options = forTraining(symbol);
  for (auto& [name, gradient] : options.gradients) {
    copies[name].attachGradient();
    arrays[name].attachGradient();
    gradient.array = arrays[name].gradient();
  }
  const auto executor = bindTraining(*session, symbol, arrays, options);
  ASSERT_NE(executor, nullptr);
  const auto update = [&](const ArraysByName& of) {
    std::vector<op::SgdItem> items;
    for (const auto& [name, gradient] : options.gradients) items.push_back({of.at(name), {}});
    ASSERT_TRUE(op::sgdUpdate(items, {}, {.rate = 0.02F}).has_value());
  };
  NDArray out;
  for (int i = 0; i < 4; ++i) {
    trainingStep(*executor);
    update(arrays);
    out = madeArray(autograd::record([&] { return recorded(copies); }));
    ASSERT_TRUE(autograd::backward(out).has_value());
    update(copies);
  }
  expectNear(valuesOf(*executor), {*out.toVector()}, 1e-4F);
  for (const auto& [name, gradient] : options.gradients)
    expectNear({*arrays[name].toVector()}, {*copies[name].toVector()}, 1e-4F);
  // Inference with the same arrays sees the weights and states as they are now.
  const auto fresh = bindTraining(*session, symbol, arrays, {});
  ASSERT_TRUE(fresh->forward().has_value());
  ASSERT_TRUE(executor->forward().has_value());
  expectNear(valuesOf(*executor), valuesOf(*fresh), 1e-6F);
}

// Three uses of one weight, and an output that is no loss.
Symbol sharedWeight() {
  const Symbol weight = Symbol::variable("w_weight");
  Symbol x = Symbol::variable("data");
  for (const char* name : {"a", "b", "c"})
    x = node("Activation", std::string(name) + "_tanh",
             {node("FullyConnected", name, {x, weight}, {{"num_hidden", "6"}, {"no_bias", "True"}})},
             {{"act_type", "tanh"}});
  return x;
}

TEST_P(Training, AWeightThatIsUsedSeveralTimesGetsTheSum) {
  const auto session = open(GetParam());
  const Symbol symbol = sharedWeight();
  ArraysByName arrays = arraysOf(*session, symbol, {3, 6});
  NDArray weight = NDArray::fromValues(*session, {6, 6}, *arrays["w_weight"].toVector());
  weight.attachGradient();
  const NDArray head = NDArray::fromValues(*session, {3, 6}, std::vector<float>(18, 0.5F));
  const NDArray out = madeArray(autograd::record([&] {
    NDArray x = arrays["data"];
    for (int i = 0; i < 3; ++i)
      x = madeArray(
          op::activation(madeArray(op::fullyConnected(x, {weight, {}}, {.units = 6, .bias = false})),
                         {ActivationType::tanh}));
    return Result<NDArray>(x);
  }));
  ASSERT_TRUE(autograd::backward(out, head).has_value());
  const auto options = forTraining(symbol);
  const auto executor = bindTraining(*session, symbol, arrays, options);
  ASSERT_NE(executor, nullptr);
  trainingStep(*executor, {&head, 1});
  expectNear({*executor->gradient("w_weight").toVector()}, {*weight.gradient().toVector()}, 1e-5F);
}

TEST_P(Training, RequestsWriteAddOrLeaveTheArray) {
  const Symbol symbol = network();
  const auto session = open(GetParam());
  const ArraysByName arrays = labelled(*session, symbol, kTrainingImages);
  auto written = forTraining(symbol), added = forTraining(symbol, GradientRequest::add);
  const std::vector<std::string> left{"conv1_weight", "bn2_beta"};
  for (const std::string& name : left) added.gradients.erase(name);
  const auto once = bindTraining(*session, symbol, arrays, written);
  trainingStep(*once);
  trainingStep(*once);
  const auto thrice = bindTraining(*session, symbol, arrays, added);
  for (int i = 0; i < 3; ++i) trainingStep(*thrice);
  for (const auto& [name, gradient] : added.gradients) {
    SCOPED_TRACE(name);
    auto expected = *once->gradient(name).toVector();
    for (float& value : expected) value *= 3;
    expectNear({*thrice->gradient(name).toVector()}, {expected}, 1e-4F);
  }
  for (const std::string& name : left) EXPECT_FALSE(thrice->gradient(name));
  // What is not asked for is not computed.
  EXPECT_THAT(once->describePlan(), HasSubstr("_backward_Convolution conv1:"));
  EXPECT_THAT(thrice->describePlan(), testing::Not(HasSubstr("_backward_Convolution conv1:")));
}

TEST_P(Training, GradientsOfDataAndOfWhatNothingDependsOn) {
  const auto session = open(GetParam());
  const Symbol data = Symbol::variable("data"), stopped = node("BlockGrad", "stop", {data});
  const Symbol symbol =
      node("SoftmaxOutput", "softmax",
           {node("FullyConnected", "fc", {node("elemwise_add", "sum", {data, node("tanh", "t", {stopped})})},
                 {{"num_hidden", "5"}})});
  const auto arrays = labelled(*session, symbol, {3, 4});
  auto options = forTraining(symbol);
  options.gradients["data"] = {};
  options.gradients["softmax_label"] = {NDArray::fromValues(*session, {3}, std::vector<float>{1, 2, 3}), {}};
  options.gradients["softmax_label"].request = GradientRequest::write;
  const auto executor = bindTraining(*session, symbol, arrays, options);
  ASSERT_NE(executor, nullptr);
  trainingStep(*executor);
  EXPECT_EQ(*executor->gradient("softmax_label").toVector(), (std::vector<float>{0, 0, 0}));
  // (out - label's class) * weight, past BlockGrad alone.
  const auto out = valuesOf(*executor)[0], weight = *arrays.at("fc_weight").toVector();
  std::vector<float> expected(12);
  for (std::size_t n = 0; n < 3; ++n)
    for (std::size_t k = 0; k < 4; ++k)
      for (std::size_t c = 0; c < 5; ++c)
        expected[n * 4 + k] += (out[n * 5 + c] - (c == n ? 1.0F : 0.0F)) * weight[c * 4 + k];
  expectNear({*executor->gradient("data").toVector()}, {expected}, 1e-5F);
}

// A kernel writes it into the array in one layout, and another reads it in a second one.
TEST(TrainingLayouts, AGradientIsAnArrayAndReadToo) {
  const Symbol sum =
      node("elemwise_add", "sum",
           {convolution("conv", Symbol::variable("data"), 16), Symbol::variable("added_weight")});
  const Symbol symbol = node("_mul_scalar", "twice", {sum}, {{"scalar", "2"}});
  const auto run = [&](const char* backend) {
    const auto session = open(backend);
    const auto options = forTraining(symbol);
    const auto executor = bindTraining(*session, symbol, arraysOf(*session, symbol, {2, 16, 9, 7}), options);
    std::vector<float> values(2 * 16 * 9 * 7);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 11) - 5;
    const NDArray head = NDArray::fromValues(*session, {2, 16, 9, 7}, values);
    trainingStep(*executor, {&head, 1});
    return gradientsOf(*executor, options);
  };
  expectEqual(run("onednn"), run("reference"), 1e-4F);
}

// One array for the weights of two layers that read it in different layouts.
TEST(TrainingLayouts, AnArrayMayBeSeveralArguments) {
  const Symbol symbol = convolution("b", convolution("a", Symbol::variable("data"), 16), 16);
  const auto run = [&](const char* backend) {
    const auto session = open(backend);
    const auto options = forTraining(symbol);
    ArraysByName arrays = arraysOf(*session, symbol, {2, 16, 9, 7});
    arrays["b_weight"] = arrays["a_weight"];
    const auto executor = bindTraining(*session, symbol, arrays, options);
    const NDArray head =
        NDArray::fromValues(*session, {2, 16, 9, 7}, std::vector<float>(2 * 16 * 9 * 7, 0.5F));
    trainingStep(*executor, {&head, 1});
    return gradientsOf(*executor, options);
  };
  expectEqual(run("onednn"), run("reference"), 1e-4F);
}

// The gradient of the loss is its scale, whatever comes after it.
TEST_P(Training, MakeLossEndsAGraph) {
  const auto session = open(GetParam());
  const Symbol weight = Symbol::variable("w_weight");
  const Symbol loss = node("MakeLoss", "loss", {node("elemwise_mul", "squares", {weight, weight})},
                           {{"grad_scale", "3"}, {"normalization", "batch"}});
  const NDArray values = NDArray::fromValues(*session, {2, 1}, std::vector<float>{4, -5});
  const auto executor = bindTraining(*session, loss, {{"w_weight", values}}, forTraining(loss));
  ASSERT_NE(executor, nullptr);
  trainingStep(*executor);
  expectNear(valuesOf(*executor), {{16, 25}}, 1e-6F);
  expectNear({*executor->gradient("w_weight").toVector()}, {{12, -15}}, 1e-6F);
}

// x + x + ... in one sum: as many gradients as there are uses.
Symbol manyUses(int uses) {
  const Symbol x = node("tanh", "x", {Symbol::variable("w_weight")});
  Symbol sum = node("_mul_scalar", "m0", {x}, {{"scalar", "1.5"}});
  for (int i = 1; i < uses; ++i)
    sum = node("elemwise_add", "s" + std::to_string(i),
               {sum, node("_mul_scalar", "m" + std::to_string(i), {x}, {{"scalar", std::to_string(i)}})});
  return sum;
}

TEST_P(Training, SumsOfGradientsAreOneKernelBelowTheCap) {
  const auto run = [&](const char* cap, int uses) {
    const auto session =
        open(GetParam(), {{"MXNET_EXEC_INPLACE_GRAD_SUM_CAP", cap}, {"MXNET_USE_FUSION", "0"}});
    const Symbol symbol = manyUses(uses);
    const NDArray values = NDArray::fromValues(*session, {5}, std::vector<float>{-1, -0.5F, 0, 0.5F, 1});
    const auto executor = bindTraining(*session, symbol, {{"w_weight", values}}, forTraining(symbol));
    const NDArray head = NDArray::fromValues(*session, {5}, std::vector<float>{1, 2, 3, 4, 5});
    trainingStep(*executor, {&head, 1});
    return std::pair(executor->describePlan(), *executor->gradient("w_weight").toVector());
  };
  const auto [one, sums] = run("8", 7);
  const auto [chain, added] = run("7", 7);
  EXPECT_THAT(one, HasSubstr("add_n x"));
  EXPECT_THAT(one, testing::Not(HasSubstr("_grad_add")));
  EXPECT_THAT(chain, HasSubstr("_grad_add m"));
  EXPECT_THAT(chain, testing::Not(HasSubstr("add_n x")));
  expectNear({added}, {sums}, 1e-6F);
  for (std::size_t i = 0; i < 5; ++i) {
    const double x = -1 + 0.5 * static_cast<double>(i), slope = 1 - std::tanh(x) * std::tanh(x);
    EXPECT_NEAR(static_cast<double>(sums[i]), static_cast<double>(i + 1) * slope * (1.5 + 21), 1e-4);
  }
}

TEST_P(Training, DropoutDropsInTrainingAloneAndDrawsAnew) {
  const auto session = open(GetParam());
  const Symbol symbol = node("Dropout", "drop", {Symbol::variable("w_weight")}, {{"p", "0.25"}});
  const std::vector<float> ones(4000, 1.0F);
  const NDArray values = NDArray::fromValues(*session, {4000}, ones);
  const auto run = [&](std::uint64_t seed) {
    auto options = forTraining(symbol);
    options.seed = seed;
    const auto executor = bindTraining(*session, symbol, {{"w_weight", values}}, options);
    std::vector<std::vector<float>> drawn;
    for (int i = 0; i < 2; ++i) {
      trainingStep(*executor, {&values, 1});
      drawn.push_back(valuesOf(*executor)[0]);
      EXPECT_EQ(*executor->gradient("w_weight").toVector(), drawn.back())
          << "the mask, as data and head are 1";
    }
    EXPECT_TRUE(executor->forward().has_value());
    EXPECT_EQ(valuesOf(*executor)[0], ones);
    return drawn;
  };
  const auto first = run(1), again = run(1), other = run(2);
  EXPECT_EQ(first, again);
  EXPECT_NE(first[0], first[1]);
  EXPECT_NE(first[0], other[0]);
  const auto dropped = std::count(first[0].begin(), first[0].end(), 0.0F);
  EXPECT_NEAR(static_cast<double>(dropped), 1000, 150);
  EXPECT_EQ(std::count(first[0].begin(), first[0].end(), 4.0F / 3.0F), 4000 - dropped);
}

// Inference leaves the states as they are; training moves them as momentum says.
TEST_P(Training, StatesOfBatchNorm) {
  const auto session = open(GetParam());
  const Symbol symbol = node("BatchNorm", "bn", {Symbol::variable("data")}, {{"momentum", "0.75"}});
  ArraysByName arrays = arraysOf(*session, symbol, {2, 1, 1, 2});
  ASSERT_TRUE(arrays["data"].copyFrom(std::vector<float>{1, 3, 5, 7}).has_value());
  ASSERT_TRUE(arrays["bn_moving_mean"].copyFrom(std::vector<float>{8}).has_value());
  ASSERT_TRUE(arrays["bn_moving_var"].copyFrom(std::vector<float>{1}).has_value());
  const auto executor = bindTraining(*session, symbol, arrays, forTraining(symbol));
  ASSERT_TRUE(executor->forward().has_value());
  EXPECT_EQ(*arrays["bn_moving_mean"].toVector(), std::vector<float>{8});
  ASSERT_TRUE(executor->forward(Mode::training).has_value());
  EXPECT_NEAR((*arrays["bn_moving_mean"].toVector())[0], 0.75F * 8 + 0.25F * 4, 1e-5F);
  EXPECT_NEAR((*arrays["bn_moving_var"].toVector())[0], 0.75F * 1 + 0.25F * 5, 1e-5F);
}

}  // namespace
}  // namespace pitwall::test::training_test
