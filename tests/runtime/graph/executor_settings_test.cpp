// Settings that print what an executor does, and that change its memory and its kernels.
#include <gmock/gmock.h>

#include "tests/runtime/graph/executor_check.h"

namespace pitwall::test::executor_settings_test {
namespace {

using testing::HasSubstr;

const Shape kImages{2, 3, 12, 10};

std::unique_ptr<Executor> bindTo(Session& session, const Symbol& symbol, const ArraysByName& arrays) {
  auto bound = Executor::bind(session, symbol, arrays);
  EXPECT_TRUE(bound.has_value()) << bound.error().message;
  return bound.has_value() ? std::move(*bound) : nullptr;
}

TEST(ExecutorSettings, SettingsPrintKernelsAndMemory) {
  const auto printed = [](ProgramSettings settings) {
    const auto session = open("onednn", std::move(settings));
    testing::internal::CaptureStderr();
    const auto executor = bindTo(*session, network(), arraysOf(*session, network(), kImages));
    return std::pair(testing::internal::GetCapturedStderr(), executor->memory());
  };
  EXPECT_EQ(printed({}).first, "");
  const auto [kernels, memory] = printed({{"MXNET_EXEC_VERBOSE_LOGGING", "1"}});
  EXPECT_THAT(kernels, testing::StartsWith("executor: "));
  EXPECT_THAT(kernels, HasSubstr("Convolution conv1+bn1+relu1: 2x3x12x10 -> 2x16x12x10 "));
  EXPECT_THAT(kernels, testing::Not(HasSubstr(" bytes")));
  const auto [plan, planned] = printed({{"MXNET_MEM_PLAN_VERBOSE_LOGGING", "1"}});
  EXPECT_THAT(plan, HasSubstr(std::to_string(planned.planned) + " bytes; " +
                              std::to_string(planned.unshared) + " bytes if none were shared"));
  EXPECT_THAT(plan, HasSubstr("conv1+bn1+relu1: reads data "));
  EXPECT_THAT(plan, HasSubstr("(converted weight)"));
  EXPECT_THAT(plan, testing::ContainsRegex("softmax: reads .*block [0-9]+\\); writes .*\\(output\\)"));
}

TEST(ExecutorSettings, FusionsArePrintedOnRequest) {
  const auto printed = [](ProgramSettings settings) {
    const auto session = open("onednn", std::move(settings));
    testing::internal::CaptureStderr();
    bindTo(*session, network(), arraysOf(*session, network(), kImages));
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(printed({}), "") << "as quiet as with 0";
  EXPECT_THAT(printed({{"MXNET_SUBGRAPH_VERBOSE", "1"}}),
              HasSubstr("executor: fused conv1+bn1+relu1 into one Convolution\n"));
  EXPECT_EQ(
      printed(
          {{"MXNET_SUBGRAPH_VERBOSE", "1"}, {"MXNET_SUBGRAPH_BACKEND", "NONE"}, {"MXNET_USE_FUSION", "0"}}),
      "executor: nothing is fused\n");
}

// Each of two towers of layers is a path.
TEST(ExecutorSettings, MorePathsShareLessMemory) {
  const auto planned = [](const char* name, const char* paths) {
    const auto session = open("reference", {{name, paths}});
    const Symbol data = Symbol::variable("data");
    Symbol left = data, right = data;
    for (const char* layer : {"a", "b", "c", "d"}) {
      left = convolution(std::string("left_") + layer, left, 8);
      right = convolution(std::string("right_") + layer, right, 8);
    }
    const Symbol both = node("Concat", "both", {left, right}, {{"num_args", "2"}});
    return bindTo(*session, both, arraysOf(*session, both, kImages))->memory().planned;
  };
  const Bytes shared = planned("NNVM_EXEC_NUM_TEMP", "1");
  EXPECT_GT(planned("NNVM_EXEC_NUM_TEMP", "4"), shared);
  EXPECT_EQ(planned("MXNET_EXEC_NUM_TEMP", "4"), planned("NNVM_EXEC_NUM_TEMP", "4"));
}

TEST(ExecutorSettings, EveryKernelAgreesWithPlainLoops) {
  const auto session = open("onednn", {{"MXNET_MKLDNN_DEBUG", "1"}});
  const auto executor = bindTo(*session, network(), arraysOf(*session, network(), kImages));
  ASSERT_TRUE(executor->forward().has_value());
  EXPECT_TRUE(executor->outputs()[0].waitToRead().has_value());
  EXPECT_THAT(executor->describePlan(), HasSubstr(", compared"));
}

}  // namespace
}  // namespace pitwall::test::executor_settings_test
