// Errors of a call, facts of an operator in the trace, and the use of autograd's calls.
#include <map>

#include "tests/runtime/nn/nn_support.h"
#include "tests/support/memory_sink.h"

namespace pitwall::test::operator_test {
namespace {

using ::testing::Test;

struct OperatorTest : Test {
  std::unique_ptr<Session> session = openSession();
};

TEST_F(OperatorTest, ShapesThatDoNotFitAreAnErrorOfTheCall) {
  const NDArray data = arrayOf(*session, {2, 3, 8, 8}, 1);
  const NDArray weight = arrayOf(*session, {4, 5, 3, 3}, 2);
  const auto result = op::convolution(data, {weight, {}}, {.kernel = {3, 3}, .channels = 4, .bias = false},
                                      CallSite("conv7"));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::invalidInput);
  for (const char* part : {"conv7: ", "Convolution", "2x3x8x8", "4x5x3x3"})
    EXPECT_NE(result.error().message.find(part), std::string::npos) << result.error().message;
  EXPECT_FALSE(op::add(data, weight).has_value());
  EXPECT_FALSE(op::pooling(arrayOf(*session, {2, 3}, 1), {}).has_value());
}

TEST_F(OperatorTest, EmptyHandlesAreAnErrorOfTheCall) {
  const auto result = op::fullyConnected({}, {{}, {}}, {.units = 3}, CallSite("dense1"));
  ASSERT_FALSE(result.has_value());
  EXPECT_NE(result.error().message.find("dense1: FullyConnected: data"), std::string::npos)
      << result.error().message;
  nn::Sequential net;
  EXPECT_FALSE(net.forward({}).has_value());
}

TEST_F(OperatorTest, BackwardNeedsARecording) {
  NDArray x = arrayOf(*session, {3}, 1);
  x.attachGradient();
  const NDArray unrecorded = must(op::addScalar(x, 1));
  EXPECT_FALSE(autograd::backward(unrecorded).has_value());
  const NDArray y = must(autograd::record([&] { return op::multiply(x, x); }));
  EXPECT_FALSE(autograd::backward(y, NDArray::zeros(*session, {4})).has_value());
  const NDArray z = must(autograd::record([&] { return op::addScalar(y, 1); }));
  must(autograd::backward(y));
  EXPECT_FALSE(autograd::backward(y).has_value()) << "a recording is used once";
  EXPECT_FALSE(autograd::backward(z).has_value()) << "it depends on a recording that was used";
}

TEST_F(OperatorTest, GradientsAreOverwrittenByTheNextBackward) {
  NDArray x = NDArray::fromValues(*session, {2}, std::vector<float>{3, 4});
  x.attachGradient();
  for (int i = 0; i < 2; ++i) {
    const NDArray y = must(autograd::record([&] { return op::multiply(x, x); }));
    must(autograd::backward(y));
    EXPECT_EQ(must(x.gradient().toVector()), (std::vector<float>{6, 8}));
  }
}

TEST_F(OperatorTest, PausedRecordingIsNotDifferentiated) {
  NDArray x = NDArray::fromValues(*session, {1}, std::vector<float>{3});
  x.attachGradient();
  const NDArray y = must(autograd::record([&]() -> Result<NDArray> {
    NDArray constant;
    {
      const autograd::PauseScope pause;
      EXPECT_FALSE(autograd::isRecording());
      constant = must(op::multiply(x, x));
    }
    return op::multiply(constant, x);
  }));
  must(autograd::backward(y));
  EXPECT_EQ(must(x.gradient().toVector()), std::vector<float>{9});
}

TEST_F(OperatorTest, DropoutOnlyWhileRecording) {
  const NDArray x = NDArray::fromValues(*session, {1000}, std::vector<float>(1000, 1));
  EXPECT_EQ(must(must(op::dropout(x, {0.5F}, 1)).toVector()), std::vector<float>(1000, 1));
  const auto dropped = must(must(autograd::record([&] { return op::dropout(x, {0.5F}, 1); })).toVector());
  const auto zeros = std::count(dropped.begin(), dropped.end(), 0.0F);
  EXPECT_NEAR(static_cast<double>(zeros), 500, 80);
  EXPECT_EQ(std::count(dropped.begin(), dropped.end(), 2.0F) + zeros, 1000);
}

TEST_F(OperatorTest, SgdFollowsItsFormula) {
  for (const float momentum : {0.0F, 0.5F}) {
    NDArray weight = NDArray::fromValues(*session, {1}, std::vector<float>{2});
    weight.attachGradient();
    auto parameter = std::make_shared<nn::Parameter>(nn::Parameter{.name = "w", .value = weight});
    Sgd optimizer({parameter}, {.rate = 0.1F, .momentum = momentum, .weight_decay = 0.01F});
    float w = 2, m = 0;
    for (int i = 0; i < 3; ++i) {
      const NDArray y = must(autograd::record([&] { return op::multiply(weight, weight); }));
      must(autograd::backward(y));
      must(optimizer.step(4));
      const float g = 2 * w / 4 + 0.01F * w;
      m = momentum * m - 0.1F * g;
      w += m;
      EXPECT_NEAR(must(weight.toVector())[0], w, 1e-6F);
    }
  }
}

TEST_F(OperatorTest, NagAndAdamFollowTheirFormulas) {
  const auto trained = [&] {
    NDArray weight = NDArray::fromValues(*session, {1}, std::vector<float>{2});
    weight.attachGradient();
    return std::make_shared<nn::Parameter>(nn::Parameter{.name = "w", .value = weight});
  };
  const auto step = [&](const nn::ParameterPtr& parameter, Optimizer& optimizer) {
    const NDArray y =
        must(autograd::record([&] { return op::multiply(parameter->value, parameter->value); }));
    must(autograd::backward(y));
    must(optimizer.step(4));
    return static_cast<double>(must(parameter->value.toVector())[0]);
  };
  const auto first = trained(), second = trained();
  Nag nag({first}, {.rate = 0.1F, .momentum = 0.5F, .weight_decay = 0.01F});
  Adam adam({second}, {.rate = 0.1F, .weight_decay = 0.01F});
  double w = 2, m = 0, v = 2, mean = 0, variance = 0;
  for (int i = 1; i <= 3; ++i) {
    double g = 2 * w / 4 + 0.01 * w;
    m = 0.5 * m - 0.1 * g;
    w += 0.5 * m - 0.1 * g;
    EXPECT_NEAR(step(first, nag), w, 1e-5);
    g = 2 * v / 4 + 0.01 * v;
    mean = 0.9 * mean + 0.1 * g;
    variance = 0.999 * variance + 0.001 * g * g;
    // Both averages are corrected for the zeros that they begin with.
    v -= 0.1 * (mean / (1 - std::pow(0.9, i))) / std::sqrt(variance / (1 - std::pow(0.999, i)));
    EXPECT_NEAR(step(second, adam), v, 1e-4);
  }
}

TEST_F(OperatorTest, SgdWithoutGradientSaysWhatToDo) {
  nn::Sequential net;
  net.add(nn::Dense("dense1", {.units = 2}));
  Sgd optimizer(net.parameters(), {});
  const Status step = optimizer.step(1);
  ASSERT_FALSE(step.has_value());
  EXPECT_NE(step.error().message.find("dense1.weight"), std::string::npos) << step.error().message;
}

using FactsByName = std::multimap<std::string, OperatorFacts>;

// Returns the facts of every operator that ran, when the recording ends.
class FactsSink final : public MemorySink {
 public:
  explicit FactsSink(FactsByName& found) : found_(found) {}
  Status finish() override {
    for (const Event& event : eventsOf(EventKind::operatorRun)) {
      if (!event.op) continue;  // deletions have no facts
      const OperatorFacts& of = facts.at(event.op.value - 1);
      found_.emplace(of.name, of);
    }
    return MemorySink::finish();
  }

 private:
  FactsByName& found_;
};

// One training step of a small network, as a trace shows it.
FactsByName factsOfOneStep(Session& session) {
  nn::Sequential net;
  net.add(nn::Conv2D("conv1", {.channels = 4, .kernel = {3, 3}}));
  net.add(nn::Activation("relu1", ActivationType::relu)).add(nn::MaxPool2D("pool1"));
  net.add(nn::Dense("dense1", {.units = 5}));
  nn::SoftmaxCrossEntropy loss_function("loss");
  Sgd optimizer(net.parameters(), {.momentum = 0.9F});
  const NDArray data = arrayOf(session, {2, 1, 8, 8}, 1);
  const NDArray label = NDArray::fromValues(session, {2}, std::vector<float>{1, 3});

  FactsByName found;
  must(session.profiler().start(std::make_unique<FactsSink>(found)));
  const NDArray loss =
      must(autograd::record([&] { return loss_function.forward(must(net.forward(data)), label); }));
  must(autograd::backward(loss));
  must(optimizer.step(2));
  must(session.engine().waitForAll());
  must(session.profiler().stop());
  return found;
}

TEST_F(OperatorTest, FactsReachTheTrace) {
  const auto facts = factsOfOneStep(*session);
  ASSERT_EQ(facts.count("Convolution"), 1U);
  const OperatorFacts& convolution = facts.find("Convolution")->second;
  EXPECT_EQ(convolution.layer, "conv1");
  EXPECT_EQ(convolution.shapes, "2x1x8x8,4x1x3x3,4->2x4x6x6");
  EXPECT_EQ(convolution.dtype, "float32");
  EXPECT_EQ(convolution.backend, "reference");
  EXPECT_EQ(convolution.phase, Phase::forward);
  EXPECT_EQ(convolution.flop, 2 * (2 * 4 * 6 * 6) * 9 + 2 * 4 * 6 * 6);
  EXPECT_EQ(convolution.bytes_read, 4 * (2 * 64 + 36 + 4));
  EXPECT_EQ(convolution.bytes_written, 4 * (2 * 4 * 36));

  // The data needs no gradient: one backward convolution, for the weight.
  ASSERT_EQ(facts.count("_backward_Convolution"), 1U);
  EXPECT_EQ(facts.find("_backward_Convolution")->second.phase, Phase::backward);
  EXPECT_EQ(facts.find("_backward_Convolution")->second.layer, "conv1");
  EXPECT_EQ(facts.count("_backward_FullyConnected"), 2U);
  EXPECT_EQ(facts.find("FullyConnected")->second.flop, 2 * 2 * 36 * 5 + 2 * 5);
  EXPECT_EQ(facts.find("_backward_SoftmaxOutput")->second.layer, "loss");
  for (const char* name :
       {"Activation", "Pooling", "SoftmaxOutput", "_backward_Activation", "_backward_Pooling"})
    EXPECT_EQ(facts.count(name), 1U) << name;

  ASSERT_EQ(facts.count("multi_sgd_mom_update"), 1U) << "four weights fit one aggregated call";
  EXPECT_EQ(facts.find("multi_sgd_mom_update")->second.phase, Phase::update);
}

TEST_F(OperatorTest, AggregationSizeIsObeyed) {
  session = openSession("reference", {{"MXNET_OPTIMIZER_AGGREGATION_SIZE", "3"}});
  const auto facts = factsOfOneStep(*session);
  EXPECT_EQ(facts.count("multi_sgd_mom_update"), 1U);
  EXPECT_EQ(facts.count("sgd_mom_update"), 1U);
  session = openSession("reference", {{"MXNET_OPTIMIZER_AGGREGATION_SIZE", "1"}});
  EXPECT_EQ(factsOfOneStep(*session).count("sgd_mom_update"), 4U);
}

}  // namespace
}  // namespace pitwall::test::operator_test
