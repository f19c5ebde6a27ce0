// Which operators belong to the forward pass, the backward pass and the update, inferred from profilers'
// data.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/db/import/imported.h"

namespace pitwall::test::phases_test {
namespace {

Phase phaseOf(const Imported& imported, std::string_view name) {
  const Event event = imported.only(name);
  EXPECT_EQ(event.kind, EventKind::operatorRun) << name;
  return event.op ? imported.sink.facts.at(event.op.value - 1).phase : Phase::none;
}

std::string traceOf(const std::string& events) {
  return R"({"schemaVersion":1,"traceEvents":[)" + events + "]}";
}

std::string range(const char* category, const char* name, int thread, int start, int dur,
                  const std::string& args = "") {
  return fmt::format(R"({{"ph":"X","cat":"{}","name":"{}","pid":9,"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
                     category, name, thread, start, dur, args);
}

// In 2021 steps, loading and the optimizer's ranges were of the category of operators.
TEST(ImportPhases, RangesOf2021AreNoOperators) {
  const auto imported = importText(traceOf(
      range("Operator", "ProfilerStep#5", 9, 0, 100) + "," +
      range("Operator", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 9, 1, 40) + "," +
      range("Operator", "aten::stack", 9, 5, 10) + "," +
      range("Operator", "aten::conv2d", 9, 45, 10, R"("Sequence number":7,"Fwd thread id":0)") + "," +
      range("Operator", "aten::cudnn_convolution", 9, 46, 8) + "," +
      range("Operator", "Optimizer.step#SGD.step", 9, 80, 15) + "," +
      range("Operator", "aten::add_", 9, 82, 5) + "," +
      range("Operator", "CudnnConvolutionBackward", 10, 60, 10, R"("Sequence number":7,"Fwd thread id":1)") +
      "," + range("Operator", "aten::cudnn_convolution_backward", 10, 61, 8) + "," +
      range("Operator", "torch::autograd::AccumulateGrad", 10, 71, 3) + "," +
      range("Operator", "aten::add", 10, 75, 3) + "," + range("Operator", "ProfilerStep#6", 9, 100, 90)));
  ASSERT_EQ(imported->error, "");
  ASSERT_EQ(imported->sink.iterations.size(), 3U);
  EXPECT_EQ(imported->sink.iterations[0].index, 5);
  EXPECT_EQ(imported->sink.iterations[2].time_ns, 190000);
  const auto waits = imported->sink.eventsOf(EventKind::dataWait);
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_EQ(waits[0].dur_ns, 40000);
  EXPECT_EQ(imported->only("Optimizer.step#SGD.step").kind, EventKind::scope);
  EXPECT_EQ(imported->only("ProfilerStep#5").kind, EventKind::scope);
  EXPECT_EQ(phaseOf(*imported, "aten::stack"), Phase::data);
  EXPECT_EQ(phaseOf(*imported, "aten::conv2d"), Phase::forward);
  EXPECT_EQ(phaseOf(*imported, "aten::cudnn_convolution"), Phase::forward);
  EXPECT_EQ(phaseOf(*imported, "aten::add_"), Phase::update);
  EXPECT_EQ(phaseOf(*imported, "CudnnConvolutionBackward"), Phase::backward);
  EXPECT_EQ(phaseOf(*imported, "aten::cudnn_convolution_backward"), Phase::backward);
  EXPECT_EQ(phaseOf(*imported, "torch::autograd::AccumulateGrad"), Phase::backward);
  EXPECT_EQ(phaseOf(*imported, "aten::add"), Phase::backward) << "between two functions of autograd's thread";
}

// Both passes on one thread, as without a GPU.
TEST(ImportPhases, RecomputationBelongsToTheBackwardPass) {
  const auto imported = importText(
      traceOf(range("cpu_op", "aten::linear", 9, 0, 10, R"("Sequence number":1,"Fwd thread id":0)") + "," +
              range("cpu_op", "aten::item", 9, 12, 2) + "," +
              range("cpu_op", "autograd::engine::evaluate_function: CheckpointBackward", 9, 20, 30,
                    R"("Sequence number":1,"Fwd thread id":1)") +
              "," + range("cpu_op", "aten::gelu", 9, 22, 5, R"("Sequence number":4,"Fwd thread id":0)") +
              "," + range("user_annotation", "## zero_grad ##", 9, 60, 10) + "," +
              range("cpu_op", "aten::zero_", 9, 61, 4)));
  EXPECT_EQ(phaseOf(*imported, "aten::linear"), Phase::forward);
  EXPECT_EQ(phaseOf(*imported, "aten::item"), Phase::none) << "autograd does not record it";
  EXPECT_EQ(phaseOf(*imported, "aten::gelu"), Phase::backward);
  EXPECT_EQ(phaseOf(*imported, "aten::zero_"), Phase::update);
}

// Some writers omit the numbers and write only the arrows.
TEST(ImportPhases, ArrowsLeadFromForwardToBackward) {
  const auto imported = importText(traceOf(
      range("cpu_op", "aten::linear", 9, 0, 10) + "," + range("cpu_op", "aten::addmm", 9, 2, 5) + "," +
      range("cpu_op", "aten::clone", 9, 12, 2) + "," + range("cpu_op", "AddmmFunction", 10, 30, 10) +
      R"(,{"ph":"s","id":3,"cat":"fwdbwd","name":"fwdbwd","pid":9,"tid":9,"ts":0},
                 {"ph":"f","bp":"e","id":3,"cat":"fwdbwd","name":"fwdbwd","pid":9,"tid":10,"ts":30})"));
  EXPECT_EQ(phaseOf(*imported, "aten::linear"), Phase::forward);
  EXPECT_EQ(phaseOf(*imported, "aten::addmm"), Phase::forward);
  EXPECT_EQ(phaseOf(*imported, "aten::clone"), Phase::none);
  EXPECT_EQ(phaseOf(*imported, "AddmmFunction"), Phase::backward);
}

// Operators one after the other, and calls of the C API before them, as MXNet's profiler writes them.
std::string mxnetTrace(std::initializer_list<const char*> operators,
                       std::initializer_list<const char*> calls = {}) {
  std::string events;
  std::int64_t at = 1559670569136168;
  const auto add = [&](const char* name, const char* category, const char* begin, const char* end) {
    for (const char* ph : {begin, end})
      events += fmt::format(R"({{"name":"{}","cat":"{}","ph":"{}","ts":{},"pid":0,"tid":1,"id":1}},)", name,
                            category, ph, at += 10);
  };
  for (const char* name : calls) add(name, "MXNET_C_API", "b", "e");
  for (const char* name : operators) add(name, "operator", "B", "E");
  return R"({"traceEvents":[{"ph":"M","args":{"name":"cpu/0"},"pid":0,"name":"process_name"},)" + events +
         R"({"ph":"M","args":{"name":"cpu/1"},"pid":1,"name":"process_name"}]})";
}

TEST(ImportPhases, OperatorsOfMxNetWhoseGradientRunsAreForward) {
  const auto imported = importText(
      mxnetTrace({"_image_to_tensor", "Convolution", "Flatten", "_mul_scalar", "_backward_mul_scalar",
                  "_backward_copy", "_backward_Convolution", "multi_sgd_mom_update", "lamb_update_phase1"}));
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(phaseOf(*imported, "_image_to_tensor"), Phase::none);
  EXPECT_EQ(phaseOf(*imported, "Convolution"), Phase::forward);
  EXPECT_EQ(phaseOf(*imported, "Flatten"), Phase::forward);
  EXPECT_EQ(phaseOf(*imported, "_mul_scalar"), Phase::forward);
  EXPECT_EQ(phaseOf(*imported, "_backward_Convolution"), Phase::backward);
  EXPECT_EQ(phaseOf(*imported, "multi_sgd_mom_update"), Phase::update);
  EXPECT_EQ(phaseOf(*imported, "lamb_update_phase1"), Phase::update);
}

// Executors and static blocks run several operators as one, with all their names.
TEST(ImportPhases, OperatorsOfMxNetThatRunAsOneHaveTheirPhase) {
  constexpr char kBackward[] =
      "[_backward_SoftmaxOutput,_backward_FullyConnected,_backward_copy,_zeros_without_dtype,]";
  const auto imported = importText(
      mxnetTrace({"[Convolution,Flatten,FullyConnected,SoftmaxOutput,]", kBackward, "slice_axis,argmax",
                  "_backward_Pooling,_backward_Activation", "Pooling,Activation"}));
  ASSERT_EQ(imported->error, "");
  EXPECT_EQ(phaseOf(*imported, "[Convolution,Flatten,FullyConnected,SoftmaxOutput,]"), Phase::forward);
  EXPECT_EQ(phaseOf(*imported, kBackward), Phase::backward);
  EXPECT_EQ(phaseOf(*imported, "slice_axis,argmax"), Phase::none);
  EXPECT_EQ(phaseOf(*imported, "_backward_Pooling,_backward_Activation"), Phase::backward);
  EXPECT_EQ(phaseOf(*imported, "Pooling,Activation"), Phase::forward);
}

// A bulk has no names. It is of the backward pass unless the program also calls what else runs operators in bulk.
TEST(ImportPhases, BulksOfMxNetAreBackwardWhereNothingElseRunsThem) {
  const auto bulk = [](std::initializer_list<const char*> calls) {
    return phaseOf(*importText(mxnetTrace({"Convolution", "ImperativeBulk"}, calls)), "ImperativeBulk");
  };
  EXPECT_EQ(bulk({"MXImperativeInvokeEx", "MXAutogradSetIsRecording", "MXAutogradBackwardEx"}),
            Phase::backward);
  EXPECT_EQ(bulk({"MXAutogradBackwardEx", "MXInvokeCachedOp"}), Phase::none);
  EXPECT_EQ(bulk({"MXAutogradBackwardEx", "MXEngineSetBulkSize"}), Phase::none);
  EXPECT_EQ(bulk({"MXImperativeInvokeEx", "MXAutogradSetIsRecording"}), Phase::none);
}

}  // namespace
}  // namespace pitwall::test::phases_test
