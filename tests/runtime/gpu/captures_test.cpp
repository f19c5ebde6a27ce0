// Executors on GPUs (fake_gpu.h), with their passes as graphs of the device and without, beside the reference backend.
#include "runtime/gpu/captures.h"

#include <gmock/gmock.h>

#include <regex>

#include "tests/runtime/gpu/fake_gpu.h"
#include "tests/runtime/graph/training_check.h"

namespace pitwall::test::captures_test {
namespace {

const Shape kImages{2, 3, 12, 10};

ArraysByName onGpu(const ArraysByName& arrays) {
  ArraysByName there;
  for (const auto& [name, array] : arrays) there[name] = madeArray(array.copyTo(gpu(0)));
  return there;
}

// Whether passes are graphs.
class GpuExecutor : public testing::TestWithParam<const char*> {
 protected:
  bool isGraph() const { return *GetParam() == '1'; }
  std::unique_ptr<Session> open(ProgramSettings settings = {}) {
    settings.emplace_back("MXNET_ENABLE_CUDA_GRAPHS", GetParam());
    auto session = Session::open(
        {.trace_path = "", .backend = "reference", .settings = std::move(settings), .gpus = gpus});
    EXPECT_TRUE(session.has_value()) << session.error().message;
    return std::move(*session);
  }
  struct Training {
    int steps = 4;
    float gradients = 1e-4F;  // their tolerance
  };
  // On the GPU and on the CPU, with the same results in each step. Returns the plan of the GPU.
  std::string trainBoth(const Symbol& symbol, const Shape& data, const Training& training) {
    const auto session = open();
    const ArraysByName arrays = labelled(*session, symbol, data);
    const auto options = forTraining(symbol);
    auto of_gpu = options;
    of_gpu.device = gpu(0);
    const auto expected = bindTraining(*session, symbol, arrays, options);
    const auto executor = bindTraining(*session, symbol, onGpu(arrays), of_gpu);
    for (int step = 0; step < training.steps; ++step) {
      trainingStep(*expected);
      trainingStep(*executor);
      expectNear(valuesOf(*executor), valuesOf(*expected), 1e-4F);
      expectEqual(gradientsOf(*executor, of_gpu), gradientsOf(*expected, options), training.gradients);
    }
    return executor->describePlan();
  }
  std::shared_ptr<FakeGpuPlatform> gpus = std::make_shared<FakeGpuPlatform>(FakeGpuOptions{.delay_us = 5});
};
INSTANTIATE_TEST_SUITE_P(Graphs, GpuExecutor, testing::Values("0", "1"),
                         [](const auto& values) { return *values.param == '1' ? "on" : "off"; });

std::vector<float> numbers(std::int64_t count, int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = uniform(random);
  return values;
}

TEST_P(GpuExecutor, InfersAsTheCpuAlsoWithNewData) {
  const auto session = open();
  const Symbol symbol = network();
  const ArraysByName arrays = arraysOf(*session, symbol, kImages);
  ArraysByName there = onGpu(arrays);
  Executor::Options options;
  const auto expected = bindTraining(*session, symbol, arrays, options);
  options.device = gpu(0);
  const auto executor = bindTraining(*session, symbol, there, options);
  for (int pass = 0; pass < 6; ++pass) {
    const std::vector<float> data = numbers(kImages.elements(), pass);
    NDArray host = arrays.at("data");
    ASSERT_TRUE(host.copyFrom(data).has_value());
    ASSERT_TRUE(there["data"].copyFrom(data).has_value());
    ASSERT_TRUE(expected->forward().has_value());
    ASSERT_TRUE(executor->forward().has_value());
    expectNear(valuesOf(*executor), valuesOf(*expected), 1e-5F);
  }
  if (isGraph())
    EXPECT_GT(gpus->fake.launches(), 0);
  else
    EXPECT_EQ(gpus->fake.captures(), 0);
}

TEST_P(GpuExecutor, TrainsAsTheCpu) {
  (void)trainBoth(network(), kTrainingImages, {.steps = 5, .gradients = 1e-3F});
  EXPECT_EQ(gpus->fake.launches() > 2, isGraph());
}

// A BatchNorm is joined with its relu, or not, and mirroring computes results again: the gradients stay.
TEST_P(GpuExecutor, WhatIsJoinedOrComputedAgainChangesNoGradient) {
  const Symbol symbol = network();
  const auto run = [&](const ProgramSettings& settings, std::string* plan) {
    const auto session = open(settings);
    auto options = forTraining(symbol);
    options.device = gpu(0);
    const auto executor =
        bindTraining(*session, symbol, onGpu(labelled(*session, symbol, kTrainingImages)), options);
    for (int step = 0; step < 3; ++step) trainingStep(*executor);
    *plan = executor->describePlan();
    return gradientsOf(*executor, options);
  };
  std::string joined, apart, mirrored;
  const GradientValues expected = run({{"MXNET_SUBGRAPH_BACKEND", "NONE"}}, &apart);
  expectEqual(run({}, &joined), expected, 1e-4F);
  expectEqual(run({{"MXNET_BACKWARD_DO_MIRROR", "1"}}, &mirrored), expected, 1e-4F);
  EXPECT_THAT(joined, testing::HasSubstr("_backward_BatchNorm bn1+relu1"));
  EXPECT_THAT(apart, testing::Not(testing::HasSubstr("bn1+relu1")));
  EXPECT_THAT(mirrored.substr(mirrored.find("_backward_")), testing::HasSubstr(" Convolution conv1"));
}

// A network that begins with a BatchNorm, as ResNet v2.
TEST_P(GpuExecutor, SumsTheGradientOfTheFirstShift) {
  const Symbol normal = node("BatchNorm", "bn_data", {Symbol::variable("data")}, {{"fix_gamma", "True"}});
  const Symbol flat = node("Flatten", "flat", {relu("relu0", convolution("conv0", normal, 8))});
  const Symbol symbol =
      node("SoftmaxOutput", "softmax", {node("FullyConnected", "fc", {flat}, {{"num_hidden", "5"}})});
  EXPECT_THAT(trainBoth(symbol, kTrainingImages, {}),
              testing::HasSubstr("_backward_NormalizedConvolution bn_data+conv0"));
}

// The workspaces of kernels are among the results, where none is needed meanwhile; no stream has a workspace.
TEST_P(GpuExecutor, WorkspacesArePartOfThePlan) {
  const auto session = open({{"MXNET_MEM_PLAN_VERBOSE_LOGGING", "1"}});
  const Symbol symbol = network();
  auto options = forTraining(symbol);
  options.device = gpu(0);
  testing::internal::CaptureStderr();
  const auto executor =
      bindTraining(*session, symbol, onGpu(labelled(*session, symbol, kTrainingImages)), options);
  const std::string plan = testing::internal::GetCapturedStderr();
  for (int step = 0; step < 3; ++step) trainingStep(*executor);
  (void)gradientsOf(*executor, options);
  EXPECT_THAT(plan, testing::ContainsRegex("_backward_BatchNorm bn1[^\n]*; workspace [0-9]+ bytes \\(block"));
  const std::regex place(" bytes at ([0-9]+)\n");
  int blocks = 0;
  for (std::sregex_iterator at(plan.begin(), plan.end(), place), end; at != end; ++at, ++blocks)
    EXPECT_EQ(std::stoll((*at)[1]) % 256, 0) << "which cuBLASLt needs";
  EXPECT_GT(blocks, 10);
  const Storage* const storage = *session->storage(gpu(0));
  EXPECT_EQ(storage->usage(MemoryTag::workspace).peak_bytes, 0);
  EXPECT_LT(executor->memory().planned, executor->memory().unshared);
}

TEST_P(GpuExecutor, TrainsRecurrentLayersAsTheCpu) {
  for (const char* const mode : {"lstm", "gru", "rnn_tanh"}) {
    SCOPED_TRACE(mode);
    const Symbol layers =
        node("RNN", "layers", {Symbol::variable("data")},
             {{"mode", mode}, {"state_size", "4"}, {"num_layers", "2"}, {"bidirectional", "True"}});
    const Symbol dense = node("FullyConnected", "fc", {layers}, {{"num_hidden", "5"}, {"flatten", "True"}});
    EXPECT_THAT(trainBoth(node("SoftmaxOutput", "softmax", {dense}), {6, 3, 4}, {}),
                testing::HasSubstr("_backward_RNN layers"));
  }
}

TEST_P(GpuExecutor, DrawsNewNumbersInEachPass) {
  const Symbol data = Symbol::variable("data");
  const Symbol elements = node("Dropout", "drop", {relu("first", relu("zeroth", data))}, {{"p", "0.5"}});
  const Symbol layers = node("RNN", "layers", {relu("first", relu("zeroth", data))},
                             {{"mode", "rnn_relu"}, {"state_size", "16"}, {"num_layers", "2"}, {"p", "0.5"}});
  for (const Symbol& drawn : {elements, layers}) {
    const auto session = open();
    const Symbol symbol = relu("relu", drawn);
    Executor::Options options;
    options.device = gpu(0);
    const auto executor =
        bindTraining(*session, symbol, onGpu(arraysOf(*session, symbol, {8, 1, 8})), options);
    std::vector<std::vector<float>> passes;
    for (int pass = 0; pass < 4; ++pass) {
      ASSERT_TRUE(executor->forward(Executor::Mode::training).has_value());
      passes.push_back(valuesOf(*executor)[0]);
    }
    for (std::size_t a = 1; a < passes.size(); ++a) EXPECT_NE(passes[a], passes[a - 1]);
  }
}

TEST_P(GpuExecutor, WhatCannotBeCapturedRunsAsBefore) {
  gpus->fake.refuseCaptures();
  const auto session = open();
  const Symbol symbol = network();
  const ArraysByName arrays = arraysOf(*session, symbol, kImages);
  const auto expected = bindTraining(*session, symbol, arrays, Executor::Options());
  Executor::Options options;
  options.device = gpu(0);
  const auto executor = bindTraining(*session, symbol, onGpu(arrays), options);
  ASSERT_TRUE(expected->forward().has_value());
  for (int pass = 0; pass < 4; ++pass) {
    ASSERT_TRUE(executor->forward().has_value());
    expectNear(valuesOf(*executor), valuesOf(*expected), 1e-5F);
  }
  EXPECT_EQ(gpus->fake.launches(), 0);
}

TEST(GpuCaptures, RunsCapturesRepeats) {
  FakeGpuDriver driver({});
  const GpuStream stream = *driver.createStream();
  int called = 0, done = 0;
  {
    GpuCaptures captures(driver, {}, "layer", 2);
    const auto run = [&](const void* address) {
      const void* const addresses[] = {address};
      return captures.run(stream, addresses, [&]() -> Status {
        ++called;
        FakeGpuDriver::enqueue(stream, [&] { ++done; });
        return {};
      });
    };
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(run(&called).has_value());
    ASSERT_TRUE(driver.synchronize(stream).has_value());
    EXPECT_EQ(called, 2) << "once by itself, once captured";
    EXPECT_EQ(done, 5);
    // Other memory: another graph, and of many the oldest is given up.
    int places[6] = {};
    for (int round = 0; round < 3; ++round)
      for (int& place : places) ASSERT_TRUE(run(&place).has_value());
    ASSERT_TRUE(driver.synchronize(stream).has_value());
    EXPECT_EQ(done, 5 + 18);
  }
  driver.destroyStream(stream);
}

TEST(GpuCaptures, AnErrorOfTheWorkIsThatOfTheRun) {
  FakeGpuDriver driver({});
  const GpuStream stream = *driver.createStream();
  {
    GpuCaptures captures(driver, {}, "layer", 2);
    const auto fails = [] { return Status(fail(ErrorCode::internal, "no such thing")); };
    for (int i = 0; i < 3; ++i) {
      const Status status = captures.run(stream, {}, fails);
      ASSERT_FALSE(status.has_value());
      EXPECT_EQ(status.error().message, "no such thing");
    }
  }
  driver.destroyStream(stream);
}

}  // namespace
}  // namespace pitwall::test::captures_test
