// What settings change about the kernels that the oneDNN backend makes.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <random>

#include "runtime/backend/support/compared_kernel.h"
#include "runtime/backend/support/function_kernel.h"
#include "tests/runtime/backend/harness.h"

namespace pitwall::test::backend_settings_test {
namespace {

using testing::HasSubstr;

std::unique_ptr<Backend> with(const std::vector<std::pair<std::string, std::string>>& values) {
  const auto settings = Settings::fromValues(values);
  EXPECT_TRUE(settings.has_value()) << settings.error().message;
  auto backend = openBackend("onednn", *settings);
  EXPECT_TRUE(backend.has_value()) << backend.error().message;
  return std::move(backend).value();
}

Array random(const Shape& shape, unsigned seed) {
  std::mt19937 engine(seed);
  return randomArray(shape, engine);
}

TEST(BackendSettings, OnednnCacheNumIsAnotherNameOfMkldnnCacheNum) {
  const auto evictions = [](Backend& backend) {
    for (const std::int64_t size : {3, 4, 5})
      ask(backend, {.desc = ActivationDesc{}, .inputs = {random({size}, 1)}});
    return backend.cacheUsage().evictions;
  };
  EXPECT_EQ(evictions(*with({})), 0);
  EXPECT_EQ(evictions(*with({{"MXNET_ONEDNN_CACHE_NUM", "1"}})), 2);
  EXPECT_EQ(evictions(*with({{"MXNET_ONEDNN_CACHE_NUM", "1"}, {"MXNET_MKLDNN_CACHE_NUM", "9"}})), 0);
}

TEST(BackendSettings, RecurrentNetworksRunAsPlainLoopsOnRequest) {
  const RnnDesc desc{.type = RnnType::gru, .hidden = 4};
  const Call call{.desc = desc,
                  .pass = Pass::inference,
                  .inputs = {random({5, 3, 7}, 1), random({desc.parameters(7)}, 2), random({1, 3, 4}, 3)}};
  EXPECT_NE(ask(*with({}), call).kernel->implementation(), "reference");
  EXPECT_EQ(ask(*with({{"MXNET_USE_MKLDNN_RNN", "0"}}), call).kernel->implementation(), "reference");
}

// 1, and so many numbers that in float32 each vanishes beside the sum of all.
TEST(BackendSettings, SafeAccumulationAddsInDouble) {
  const std::int64_t count = 1 << 20;
  std::vector<float> values(static_cast<std::size_t>(count), 0.0F);
  values[0] = std::log(3e7F);  // the exponentials: 3e7, and 1 for each of the others
  const Call call{.desc = SoftmaxDesc{}, .pass = Pass::inference, .inputs = {makeArray({1, count}, values)}};
  const double exact = 1 / (std::exp(static_cast<double>(values[0])) + static_cast<double>(count - 1));
  const auto backend = with({{"MXNET_SAFE_ACCUMULATION", "1"}});
  const Answer safe = ask(*backend, call);
  EXPECT_EQ(safe.kernel->implementation(), "reference");
  EXPECT_NEAR(static_cast<double>(safe.outputs[0].floats()[1]) / exact, 1, 1e-6);
  EXPECT_NE(ask(*with({}), call).kernel->implementation(), "reference");
}

TEST(BackendSettings, WeightsOfDenseLayersMayStayRowMajor) {
  const Array data = random({8, 64}, 1), weight = random({128, 64}, 2), bias = random({128}, 3);
  const FullyConnectedDesc desc{.units = 128};
  const auto plain = with({{"MXNET_MKLDNN_FORCE_FC_AB_FORMAT", "1"}}), free = with({});
  for (const Pass pass : {Pass::inference, Pass::forward}) {
    const Call call{.desc = desc, .pass = pass, .inputs = {data, weight, bias}};
    const Answer found = ask(*plain, call), expected = ask(*free, call);
    EXPECT_EQ(found.kernel->inputs()[1].layout, nullptr);
    EXPECT_NE(expected.kernel->inputs()[1].layout, nullptr) << "oneDNN's preference is blocked";
    for (int i = 0; i < 8 * 128; ++i)
      ASSERT_NEAR(found.outputs[0].floats()[i], expected.outputs[0].floats()[i], 1e-4F);
  }
  const Answer backward = ask(*plain, {.desc = desc,
                                       .pass = Pass::backwardData,
                                       .inputs = {random({8, 128}, 4), weight},
                                       .like = &data.spec});
  EXPECT_EQ(backward.kernel->inputs()[1].layout, nullptr);
}

TEST(BackendSettings, DebuggingComparesWithPlainKernels) {
  const auto backend = with({{"MXNET_MKLDNN_DEBUG", "1"}});
  const ConvolutionDesc desc{.kernel = {3, 3}, .pad = {1, 1}, .channels = 16};
  const Answer out =
      ask(*backend, {.desc = desc,
                     .pass = Pass::inference,
                     .inputs = {random({2, 16, 8, 8}, 1), random({16, 16, 3, 3}, 2), random({16}, 3)}});
  ASSERT_NE(out.kernel, nullptr);
  EXPECT_THAT(out.kernel->implementation(), HasSubstr(", compared"));
}

TEST(ComparedKernel, NamesTheFirstDifference) {
  const Signature signature{.inputs = {{Shape{3}}}, .outputs = {{Shape{3}}}};
  const auto kernel = [&](const char* name, float wrong) -> KernelPtr {
    return std::make_shared<FunctionKernel>(signature, name, [wrong](const KernelArgs& a) -> Status {
      for (int i = 0; i < 3; ++i) output(a, 0)[i] = 2 * input(a, 0)[i];
      output(a, 0)[1] += wrong;
      return {};
    });
  };
  std::vector<float> values{1, 2, std::numeric_limits<float>::quiet_NaN()};
  const auto run = [&](float wrong, bool in_place) {
    const KernelPtr compared =
        compareKernels({kernel("fast", wrong), kernel("slow", 0), {nullptr}, {nullptr}, "Double forward(3)"});
    std::vector<float> from = values, to(3);
    const void* in = from.data();
    void* out = in_place ? from.data() : to.data();
    const Status status = compared->run({.inputs = {&in, 1}, .outputs = {&out, 1}});
    return status.has_value() ? std::string() : status.error().message;
  };
  for (const bool in_place : {false, true}) {
    EXPECT_EQ(run(0, in_place), "");
    EXPECT_EQ(run(0.003F, in_place), "") << "within rounding";
    EXPECT_EQ(
        run(1, in_place),
        "MXNET_MKLDNN_DEBUG: Double forward(3): output 0, element 1 is 5 by fast, and 4 by plain loops; "
        "MXNET_MKLDNN_ENABLED=0 runs without oneDNN");
  }
}

}  // namespace
}  // namespace pitwall::test::backend_settings_test
