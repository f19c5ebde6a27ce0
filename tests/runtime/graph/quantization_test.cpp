// quantize(), and executors on 8-bit numbers, beside the network on real ones.
#include "runtime/quantization.h"

#include <gmock/gmock.h>

#include "runtime/graph/quantization/quantization.h"
#include "tests/runtime/graph/executor_check.h"

namespace pitwall::test::quantization_test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<NDArray> batchesFor(Session& session, const Shape& shape) {
  std::mt19937 random(11);
  std::vector<NDArray> batches;
  for (int i = 0; i < 3; ++i) {
    std::uniform_real_distribution<float> values(-1, 1);
    std::vector<float> contents(static_cast<std::size_t>(shape.elements()));
    for (float& value : contents) value = values(random);
    batches.push_back(NDArray::fromValues(session, shape, contents));
  }
  return batches;
}

struct Outcome {
  Symbol symbol;
  OutputValues values;
  std::string plan;
};

Outcome run(Session& session, const Symbol& symbol, const ArraysByName& arrays) {
  auto executor = Executor::bind(session, symbol, arrays);
  EXPECT_TRUE(executor.has_value()) << executor.error().message;
  if (!executor.has_value()) return {};
  EXPECT_TRUE((*executor)->forward().has_value());
  return {symbol, valuesOf(**executor), (*executor)->describePlan()};
}

class Quantization : public testing::Test {
 protected:
  Outcome quantized(Session& session, const Symbol& symbol, QuantizeOptions options = {}) {
    const Shape shape{2, 8, 10, 10};
    ArraysByName arrays = arraysOf(session, symbol, shape);
    if (options.batches.empty()) options.batches = batchesFor(session, shape);
    const auto small = quantize(session, symbol, arrays, options);
    EXPECT_TRUE(small.has_value()) << small.error().message;
    return small.has_value() ? run(session, *small, arrays) : Outcome{};
  }
  Outcome real(Session& session, const Symbol& symbol) {
    return run(session, symbol, arraysOf(session, symbol, {2, 8, 10, 10}));
  }
  static std::string failureOf(const Result<Symbol>& result) {
    return result.has_value() ? "" : result.error().message;
  }
};

// Largest difference, as a part of the largest value.
double distance(const OutputValues& a, const OutputValues& b) {
  double error = 0, most = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t k = 0; k < a[i].size(); ++k) {
      error = std::max(error, static_cast<double>(std::abs(a[i][k] - b[i][k])));
      most = std::max(most, static_cast<double>(std::abs(b[i][k])));
    }
  return error / most;
}

// Before the softmax, which hides differences.
Symbol scores() { return *network().internals().find("fc2_output"); }

TEST_F(Quantization, ResultsAreNearThoseOfRealNumbers) {
  for (const char* backend : {"onednn", "reference"}) {
    const auto session = open(backend);
    const Outcome expected = real(*session, scores());
    for (const Calibration calibration : {Calibration::naive, Calibration::none}) {
      const Outcome outcome = quantized(*session, scores(), {.calibration = calibration});
      EXPECT_LT(distance(outcome.values, expected.values), 0.05) << backend;
      EXPECT_GT(distance(outcome.values, expected.values), 1e-5) << "it is quantized";
    }
    // Few numbers: what is cut off as outliers is a part of them.
    EXPECT_LT(distance(quantized(*session, scores(), {.calibration = Calibration::entropy}).values,
                       expected.values),
              0.25)
        << backend;
  }
}

TEST_F(Quantization, EveryLayerComputesOnIntegers) {
  const auto session = open("onednn");
  const Outcome outcome = quantized(*session, scores(), {.calibration = Calibration::naive});
  for (const char* line :
       {"_contrib_quantized_conv conv1+bn1+relu1:", "_contrib_quantized_conv conv2+bn2+sum1+relu2:",
        "_contrib_quantized_batch_norm bn3+relu3:", "_contrib_quantized_conv conv3+sum2:",
        "_contrib_quantized_fully_connected fc1+relu5:", "_contrib_quantized_fully_connected fc2:"})
    EXPECT_THAT(outcome.plan, HasSubstr(line));
  EXPECT_THAT(outcome.plan, Not(HasSubstr(" Convolution ")));
  EXPECT_THAT(outcome.plan, Not(HasSubstr(" BatchNorm ")));
}

// The same graph without 8-bit kernels: the rounding of weights is the only difference.
TEST_F(Quantization, TheGraphSaysWhatTheExecutorComputes) {
  const auto session = open("onednn"), plain = open("onednn", {{"MXNET_SUBGRAPH_BACKEND", "NONE"}});
  const Outcome fast = quantized(*session, scores(), {.calibration = Calibration::naive});
  const Outcome slow = run(*plain, fast.symbol, arraysOf(*plain, scores(), {2, 8, 10, 10}));
  EXPECT_THAT(slow.plan, Not(HasSubstr("_contrib_quantized_")));
  EXPECT_LT(distance(fast.values, slow.values), 0.04);
}

TEST_F(Quantization, ASavedGraphIsTheSame) {
  const auto session = open("onednn");
  const Outcome outcome = quantized(*session, scores(), {.calibration = Calibration::naive});
  const auto read = Symbol::fromJson(outcome.symbol.toJson(), "quantized");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(run(*session, *read, arraysOf(*session, scores(), {2, 8, 10, 10})).values, outcome.values);
}

TEST_F(Quantization, ExcludedLayersStay) {
  const auto session = open("onednn");
  const Outcome outcome =
      quantized(*session, scores(), {.calibration = Calibration::naive, .excluded = {"conv4", "fc2"}});
  EXPECT_THAT(outcome.plan, HasSubstr(" Convolution conv4+relu4:"));
  EXPECT_THAT(outcome.plan, HasSubstr(" FullyConnected fc2:"));
  EXPECT_THAT(outcome.plan, HasSubstr("_contrib_quantized_fully_connected fc1"));
}

TEST_F(Quantization, FusionsOfDenseLayersCanBeTurnedOff) {
  const QuantizeOptions options{.calibration = Calibration::naive};
  const auto session = open("onednn");
  const Outcome joined = quantized(*session, scores(), options);
  EXPECT_THAT(joined.plan, Not(HasSubstr("_contrib_requantize")));
  const auto no_floats = open("onednn", {{"MXNET_DISABLE_MKLDNN_QFC_FLOAT_OUTPUT", "1"}});
  const Outcome apart = quantized(*no_floats, scores(), options);
  EXPECT_THAT(apart.plan, HasSubstr("_contrib_dequantize fc2"));
  EXPECT_THAT(apart.plan, Not(HasSubstr("_contrib_requantize fc1")));
  EXPECT_LT(distance(apart.values, joined.values), 1e-3);
  const auto nothing = open("onednn", {{"MXNET_DISABLE_MKLDNN_QFC_FUSE_ALL", "1"}});
  const Outcome all_apart = quantized(*nothing, scores(), options);
  EXPECT_THAT(all_apart.plan, HasSubstr("_contrib_dequantize fc2"));
  EXPECT_THAT(all_apart.plan, HasSubstr("_contrib_requantize fc1"));
  EXPECT_LT(distance(all_apart.values, joined.values), 0.02);
}

TEST_F(Quantization, FusionsOfProductsCanBeTurnedOff) {
  const Symbol data = Symbol::variable("data");
  const Symbol product =
      node("elemwise_mul", "product", {convolution("a", data, 8, true), convolution("b", data, 8, true)});
  const Symbol net = node("_plus_scalar", "end", {product}, {{"scalar", "1"}});
  const Symbol wider = convolution("after", product, 4, true);
  const QuantizeOptions options{.calibration = Calibration::naive};
  const auto session = open("onednn"),
             no_floats = open("onednn", {{"MXNET_DISABLE_MKLDNN_QEM_FLOAT_OUTPUT", "1"}}),
             nothing = open("onednn", {{"MXNET_DISABLE_MKLDNN_QEM_FUSE_ALL", "1"}});
  const Outcome joined = quantized(*session, net, options), apart = quantized(*no_floats, net, options);
  EXPECT_LT(distance(joined.values, real(*session, net).values), 0.03);
  EXPECT_THAT(joined.plan, HasSubstr("_contrib_quantized_elemwise_mul product"));
  EXPECT_THAT(joined.plan, Not(HasSubstr("_contrib_dequantize product")));
  EXPECT_THAT(apart.plan, HasSubstr("_contrib_dequantize product"));
  EXPECT_LT(distance(apart.values, joined.values), 1e-3);
  EXPECT_THAT(quantized(*no_floats, wider, options).plan, Not(HasSubstr("_contrib_requantize product")));
  EXPECT_THAT(quantized(*nothing, wider, options).plan, HasSubstr("_contrib_requantize product"));
}

TEST_F(Quantization, WeightsOfDenseLayersAreFollowedWhenAskedFor) {
  const Symbol net = node("FullyConnected", "fc", {Symbol::variable("data")}, {{"num_hidden", "4"}});
  for (const bool follows : {false, true}) {
    const auto session = open("onednn", {{"MXNET_MKLDNN_QFC_DYNAMIC_PARAMS", follows ? "1" : "0"}});
    ArraysByName arrays = arraysOf(*session, net, {2, 8, 10, 10});
    const auto small = quantize(*session, net, arrays, {.batches = batchesFor(*session, {2, 8, 10, 10})});
    ASSERT_TRUE(small.has_value()) << small.error().message;
    const auto executor = Executor::bind(*session, *small, arrays);
    ASSERT_TRUE(executor.has_value()) << executor.error().message;
    ASSERT_TRUE((*executor)->forward().has_value());
    const OutputValues before = valuesOf(**executor);
    ASSERT_TRUE(arrays["fc_weight"].copyFrom(std::vector<float>(3200, 0.25F)).has_value());
    ASSERT_TRUE((*executor)->forward().has_value());
    EXPECT_EQ(valuesOf(**executor) != before, follows);
  }
}

TEST_F(Quantization, PrintsWhatItQuantizes) {
  const auto session = open("onednn", {{"MXNET_QUANTIZATION_VERBOSE", "1"}});
  testing::internal::CaptureStderr();
  quantized(*session, scores(), {.calibration = Calibration::naive});
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, HasSubstr("quantize: data for conv1 (Convolution), -"));
  EXPECT_THAT(text, HasSubstr("quantize: relu1_output for conv2 (Convolution), 0 to "));
}

TEST_F(Quantization, MistakesAreMessages) {
  const auto session = open("onednn");
  const ArraysByName arrays = arraysOf(*session, scores(), {2, 8, 10, 10});
  const auto batches = batchesFor(*session, {2, 8, 10, 10});
  const auto with = [&](const QuantizeOptions& options) {
    return failureOf(quantize(*session, scores(), arrays, options));
  };
  EXPECT_THAT(with({}), HasSubstr("calibration needs batches of data"));
  EXPECT_THAT(with({.batches = batches, .excluded = {"conv9"}}), HasSubstr("the excluded conv9 is no node"));
  EXPECT_THAT(with({.batches = batches, .type = "int4"}), HasSubstr("the type is int4; give auto"));
  auto two = batches;
  two.push_back(batchesFor(*session, {1, 8, 10, 10})[0]);
  EXPECT_THAT(with({.batches = two}), HasSubstr("batches have shapes 2x8x10x10 and 1x8x10x10"));
  const std::vector<float> none(1600, std::nanf(""));
  EXPECT_THAT(with({.batches = {NDArray::fromValues(*session, {2, 8, 10, 10}, none)}}),
              HasSubstr("data has numbers that are not finite"));
}

TEST_F(Quantization, TrainingIsRefused) {
  const auto session = open("onednn");
  const Outcome outcome = quantized(*session, scores(), {.calibration = Calibration::naive});
  ArraysByName arrays = arraysOf(*session, scores(), {2, 8, 10, 10});
  arrays["fc2_bias"].attachGradient();
  const auto executor = Executor::bind(*session, outcome.symbol, arrays,
                                       {.gradients = {{"fc2_bias", {arrays["fc2_bias"].gradient()}}}});
  ASSERT_FALSE(executor.has_value());
  EXPECT_THAT(executor.error().message, HasSubstr("train the network before it is quantized"));
}

// A normal distribution with one far outlier: the cut leaves that out. Of a flat one nothing is cut off.
TEST(EntropyThreshold, CutsOffOutliersAlone) {
  std::vector<double> counts(1000, 0.0);
  for (int i = 0; i < 300; ++i) counts[static_cast<std::size_t>(i)] = 1e5 * std::exp(-i * i / 10000.0);
  counts[999] = 1;
  const std::size_t cut = graph::leastDivergentCut(counts, 128);
  EXPECT_GT(cut, 128U);
  EXPECT_LT(cut, 400U);
  EXPECT_EQ(graph::leastDivergentCut(std::vector<double>(512, 100.0), 128), 512U);
  counts[0] = 1e9;
  EXPECT_EQ(graph::leastDivergentCut(counts, 128), cut) << "zeros need no steps";
}

}  // namespace
}  // namespace pitwall::test::quantization_test
