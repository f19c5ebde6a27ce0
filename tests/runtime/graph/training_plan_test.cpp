// Executors in training: memory, settings, the trace, mistakes.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "db/reader.h"
#include "runtime/array/array.h"
#include "tests/runtime/graph/training_check.h"
#include "tests/support/temp_folder.h"

namespace pitwall::test::training_plan_test {
namespace {

using testing::HasSubstr;
using Mode = Executor::Mode;

class TrainingMemory : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Backends, TrainingMemory, testing::Values("reference", "onednn"));

TEST(TrainingPlan, EveryPlanOfMemoryGivesTheSameBits) {
  GradientValues first;
  for (const char* range : {"16", "1", "0"}) {
    for (const char* in_place : {"1", "0"}) {
      const auto gradients =
          gradientsWith("onednn", {{"NNVM_EXEC_MATCH_RANGE", range}, {"MXNET_EXEC_ENABLE_INPLACE", in_place}},
                        network(), kTrainingImages);
      if (first.empty()) first = gradients;
      EXPECT_EQ(gradients, first) << range << " " << in_place;
    }
  }
}

TEST_P(TrainingMemory, MirrorComputesAgainWithFewerBytes) {
  const Symbol symbol = network();
  const auto run = [&](const ProgramSettings& settings) {
    const auto session = open(GetParam(), settings);
    const auto options = forTraining(symbol);
    const ArraysByName arrays = labelled(*session, symbol, {8, 3, 24, 20});
    const auto executor = bindTraining(*session, symbol, arrays, options);
    trainingStep(*executor);
    GradientValues values = gradientsOf(*executor, options);
    for (const std::string& state : symbol.auxiliaryStates()) values[state] = *arrays.at(state).toVector();
    return std::tuple(executor->memory(), executor->describePlan(), values);
  };
  const auto [kept, plan, expected] = run({});
  for (const char* name : {"MXNET_BACKWARD_DO_MIRROR", "MXNET_MEMORY_OPT"}) {
    const auto [memory, mirrored, gradients] = run({{name, "1"}});
    EXPECT_LT(memory.planned, kept.planned) << name;
    EXPECT_NE(mirrored, plan);
    expectEqual(gradients, expected, 1e-4F);
  }
}

// One node alone is computed again.
TEST(TrainingPlan, ANodeMayAskForIt) {
  const auto planOf = [&](const char* asks) {
    const auto session = open("onednn");
    const Symbol hidden = node("FullyConnected", "fc1", {Symbol::variable("data")}, {{"num_hidden", "6"}});
    const Symbol active =
        node("Activation", "relu1", {hidden}, {{"act_type", "relu"}, {"__force_mirroring__", asks}});
    const Symbol symbol =
        node("SoftmaxOutput", "softmax", {node("FullyConnected", "fc2", {active}, {{"num_hidden", "5"}})});
    const auto executor =
        bindTraining(*session, symbol, labelled(*session, symbol, {3, 4}), forTraining(symbol));
    return executor->describePlan();
  };
  const auto computations = [](const std::string& plan) {
    int count = 0;
    for (std::size_t at = plan.find(" Activation relu1"); at != plan.npos;
         at = plan.find(" Activation relu1", at + 1))
      ++count;
    return count;
  };
  EXPECT_EQ(computations(planOf("False")), 1);
  EXPECT_EQ(computations(planOf("True")), 2);
}

TEST(TrainingPlan, CommonExpressionsAreComputedOnce) {
  const Symbol data = Symbol::variable("data");
  const Symbol weight = Symbol::variable("w_weight");
  const auto made = [&](const std::string& name) {
    return node("tanh", name + "_tanh",
                {node("FullyConnected", name, {data, weight}, {{"num_hidden", "6"}, {"no_bias", "True"}})});
  };
  const Symbol symbol = node("elemwise_mul", "product", {made("a"), made("b")});
  const auto run = [&](const char* setting) {
    const auto session = open("onednn", {{"MXNET_ELIMINATE_COMMON_EXPR", setting}});
    const auto options = forTraining(symbol);
    const auto executor = bindTraining(*session, symbol, arraysOf(*session, symbol, {3, 4}), options);
    const NDArray head = NDArray::fromValues(*session, {3, 6}, std::vector<float>(18, 1.0F));
    trainingStep(*executor, {&head, 1});
    const auto training = valuesOf(*executor);
    EXPECT_TRUE(executor->forward().has_value());
    expectNear(valuesOf(*executor), training, 1e-6F);
    return std::tuple(executor->describePlan(), training, gradientsOf(*executor, options));
  };
  const auto [once, outputs, gradients] = run("1");
  const auto [twice, same_outputs, same_gradients] = run("0");
  EXPECT_THAT(once, testing::Not(HasSubstr("FullyConnected b:")));
  EXPECT_THAT(twice, HasSubstr("FullyConnected b:"));
  expectNear(outputs, same_outputs, 1e-6F);
  expectEqual(gradients, same_gradients, 1e-5F);
}

TEST(TrainingPlan, ExecutorsShareMemoryAndTakeAnotherBatch) {
  const auto session = open("onednn");
  const Symbol symbol = network();
  const ArraysByName arrays = labelled(*session, symbol, {8, 3, 12, 10});
  const auto options = forTraining(symbol);
  const auto large = bindTraining(*session, symbol, arrays, options);
  ASSERT_NE(large, nullptr);
  EXPECT_EQ(large->memory().pool, large->memory().planned);
  const ArraysByName few = labelled(*session, symbol, {3, 3, 12, 10});
  const auto small = large->rebind({{"data", few.at("data")}, {"softmax_label", few.at("softmax_label")}});
  ASSERT_TRUE(small.has_value()) << small.error().message;
  EXPECT_EQ((*small)->memory().pool, large->memory().planned) << "the smaller batch fits";
  EXPECT_LT((*small)->memory().planned, large->memory().planned);
  trainingStep(**small);
  const auto got = gradientsOf(**small, options);
  // On its own.
  ArraysByName own_arrays = arrays;
  own_arrays["data"] = few.at("data");
  own_arrays["softmax_label"] = few.at("softmax_label");
  const auto own = bindTraining(*session, symbol, own_arrays, options);
  trainingStep(*own);
  expectEqual(got, gradientsOf(*own, options), 1e-5F);
  trainingStep(*large);
  ASSERT_TRUE((*small)->forward(Mode::training).has_value());
  const Status lost = large->backward();
  ASSERT_FALSE(lost.has_value());
  EXPECT_THAT(lost.error().message, HasSubstr("another executor has used the memory"));
}

// Each call returns although an operator that the passes depend on has not run yet.
TEST(TrainingPlan, StepsDoNotWait) {
  std::atomic<bool> may_run = false;
  const auto session = open("onednn");
  const Symbol symbol = network();
  ArraysByName arrays = labelled(*session, symbol, kTrainingImages);
  const auto options = forTraining(symbol);
  const auto executor = bindTraining(*session, symbol, arrays, options);
  trainingStep(*executor);
  const GradientValues expected = gradientsOf(*executor, options);
  const Variable writes[] = {valueOf(arrays["conv1_weight"]).chunk->variable};
  session->engine().push({.run = [&may_run](const RunContext&) -> Status {
                            while (!may_run) std::this_thread::yield();
                            return {};
                          },
                          .writes = writes});
  for (int i = 0; i < 3; ++i) trainingStep(*executor);
  may_run = true;
  expectEqual(gradientsOf(*executor, options), expected, 1e-6F);
}

TEST(TrainingTrace, PassesAreRecordedAndBulked) {
  const TempFolder folder;
  for (const char* size : {"4", "0"}) {
    const std::string path = folder / (std::string("x") + size + ".pitwall");
    {
      const auto session = open("onednn", {{"MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", size}}, path);
      const Symbol symbol = network();
      const auto executor =
          bindTraining(*session, symbol, labelled(*session, symbol, kTrainingImages), forTraining(symbol));
      for (int i = 0; i < 3; ++i) trainingStep(*executor);
      ASSERT_TRUE(session->finish().has_value());
    }
    const auto trace = Trace::open(path);
    ASSERT_TRUE(trace.has_value()) << trace.error().message;
    const auto number = [&](const std::string& sql) {
      const auto rows = (*trace)->query(sql);
      EXPECT_TRUE(rows.has_value()) << rows.error().message;
      return rows.has_value() ? std::get<std::int64_t>(rows->rows[0][0]) : -1;
    };
    const std::string from = "SELECT count(*) FROM event e JOIN operator o ON o.id = e.operator WHERE ";
    EXPECT_EQ(number(from + "o.layer = 'conv2' AND o.phase = 'forward'"), 3);
    EXPECT_EQ(number(from + "o.layer = 'conv2' AND o.phase = 'backward' AND o.flop > 0"), 6);
    EXPECT_EQ(number(from + "o.name = '_backward_BatchNorm'"), 9);
    const std::int64_t bulks = number("SELECT count(*) FROM event WHERE kind = 'bulk'");
    if (std::string(size) == "0") {
      EXPECT_EQ(bulks, 0);
    } else {
      EXPECT_GT(bulks, 3 * 8);
    }
  }
}

TEST(TrainingErrors, AreMessages) {
  const auto session = open("onednn");
  const Symbol symbol = network();
  const ArraysByName arrays = labelled(*session, symbol, kTrainingImages);
  const auto messageOf = [&](const Symbol& of, const ArraysByName& given, const Executor::Options& options) {
    const auto bound = Executor::bind(*session, of, given, options);
    return bound.has_value() ? std::string() : bound.error().message;
  };
  auto options = forTraining(symbol);
  options.gradients["conv9_weight"] = {};
  EXPECT_THAT(messageOf(symbol, arrays, options), HasSubstr("'conv9_weight', which is no argument"));
  options = forTraining(symbol);
  options.gradients["fc1_bias"].array = NDArray::zeros(*session, {13});
  EXPECT_THAT(messageOf(symbol, arrays, options),
              HasSubstr("the gradient of 'fc1_bias' has shape 13, must be 12"));
  ArraysByName without = arrays;
  without.erase("softmax_label");
  EXPECT_THAT(messageOf(symbol, without, forTraining(symbol)), HasSubstr("no array for 'softmax_label'"));

  const auto executor = bindTraining(*session, symbol, arrays, forTraining(symbol));
  const Status early = executor->backward();
  ASSERT_FALSE(early.has_value());
  EXPECT_THAT(early.error().message, HasSubstr("call forward(Executor::Mode::training) first"));
  ASSERT_TRUE(executor->forward().has_value());
  EXPECT_FALSE(executor->backward().has_value()) << "inference keeps nothing";

  const Symbol plain = node("tanh", "t", {Symbol::variable("w_weight")});
  const NDArray values = NDArray::zeros(*session, {2}), head = NDArray::zeros(*session, {3});
  const auto headed = bindTraining(*session, plain, {{"w_weight", values}}, forTraining(plain));
  ASSERT_TRUE(headed->forward(Mode::training).has_value());
  const Status missing = headed->backward(), other = headed->backward({&head, 1});
  ASSERT_FALSE(missing.has_value());
  EXPECT_THAT(missing.error().message, HasSubstr("the gradient of the output t_output is missing"));
  ASSERT_FALSE(other.has_value());
  EXPECT_THAT(other.error().message, HasSubstr("is 3 of float32 on cpu(0), must be 2 of float32 on cpu(0)"));
}

}  // namespace
}  // namespace pitwall::test::training_plan_test
