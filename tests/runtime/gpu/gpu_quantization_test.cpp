// Quantized networks on GPUs (fake_gpu.h), with their passes as graphs of the device and without, beside the reference backend.
#include <gmock/gmock.h>

#include "runtime/quantization.h"
#include "tests/runtime/gpu/fake_gpu.h"
#include "tests/runtime/graph/training_check.h"

namespace pitwall::test::gpu_quantization_test {
namespace {

using testing::HasSubstr;
using testing::Not;

const Shape kImages{2, 8, 10, 10};

std::vector<float> numbers(int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(static_cast<std::size_t>(kImages.elements()));
  for (float& value : values) value = uniform(random);
  return values;
}

ArraysByName on(Device device, const ArraysByName& arrays) {
  ArraysByName there;
  for (const auto& [name, array] : arrays) there[name] = madeArray(array.copyTo(device));
  return there;
}

// Before the softmax, which hides differences.
Symbol residual() { return *network().internals().find("fc2_output"); }

// Layers that the other has not: pooling between 8-bit layers, groups, a product, a dense layer that reads images.
Symbol branches() {
  const Symbol data = convolution("first", Symbol::variable("data"), 12, true);
  const Symbol pooled =
      node("Pooling", "pool", {data}, {{"kernel", "(2, 2)"}, {"stride", "(2, 2)"}, {"pool_type", "max"}});
  const Symbol grouped =
      node("Convolution", "groups", {pooled},
           {{"kernel", "(3, 3)"}, {"pad", "(1, 1)"}, {"num_filter", "12"}, {"num_group", "12"}});
  const Symbol product = node("elemwise_mul", "product", {relu("relu", grouped), pooled});
  const Symbol last = convolution("last", product, 6, true);
  return node("FullyConnected", "dense", {node("Flatten", "flat", {last})}, {{"num_hidden", "7"}});
}

// Whether passes are graphs.
class GpuQuantization : public testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<Session> open(ProgramSettings settings = {}) {
    settings.emplace_back("MXNET_ENABLE_CUDA_GRAPHS", GetParam());
    auto session = Session::open(
        {.trace_path = "", .backend = "reference", .settings = std::move(settings), .gpus = gpus_});
    EXPECT_TRUE(session.has_value()) << session.error().message;
    return std::move(*session);
  }
  static Symbol quantized(Session& session, const Symbol& symbol, Device device,
                          Calibration calibration = Calibration::naive) {
    std::vector<NDArray> batches;
    for (int i = 0; i < 3; ++i) batches.push_back(NDArray::fromValues(session, kImages, numbers(i)));
    const auto made = quantize(session, symbol, on(device, arraysOf(session, symbol, kImages)),
                               {.calibration = calibration, .batches = batches, .device = device});
    EXPECT_TRUE(made.has_value()) << made.error().message;
    return made.has_value() ? *made : Symbol();
  }
  struct Bound {
    ArraysByName arrays;
    std::unique_ptr<Executor> executor;
    OutputValues of(const std::vector<float>& data) {
      EXPECT_TRUE(arrays["data"].copyFrom(data).has_value());
      EXPECT_TRUE(executor->forward().has_value());
      return valuesOf(*executor);
    }
  };
  static Bound bind(Session& session, const Symbol& symbol, Device device) {
    Bound bound{on(device, arraysOf(session, symbol, kImages)), nullptr};
    Executor::Options options;
    options.device = device;
    options.inputs = {"data"};
    bound.executor = bindTraining(session, symbol, bound.arrays, options);
    return bound;
  }
  // Returns the plan of the GPU.
  static std::string compare(Session& session, const Symbol& symbol) {
    Bound here = bind(session, symbol, {}), there = bind(session, symbol, gpu(0));
    for (int pass = 0; pass < 5; ++pass) {
      const std::vector<float> data = numbers(pass);
      expectNear(there.of(data), here.of(data), 1e-5F);
    }
    return there.executor->describePlan();
  }
  std::shared_ptr<FakeGpuPlatform> gpus_ = std::make_shared<FakeGpuPlatform>(FakeGpuOptions{.delay_us = 5});
};
INSTANTIATE_TEST_SUITE_P(Graphs, GpuQuantization, testing::Values("0", "1"),
                         [](const auto& values) { return *values.param == '1' ? "on" : "off"; });

TEST_P(GpuQuantization, ComputesAsTheReferenceAlsoWithNewData) {
  const auto session = open();
  const std::string plan = compare(*session, quantized(*session, residual(), {}));
  for (const char* line :
       {"_contrib_quantize_v2 data_quantize: 2x8x10x10 -> 2x8x10x10 row-major",
        "_contrib_quantized_conv conv1+bn1+relu1: 2x8x10x10 -> 2x16x10x10 channels last",
        "_contrib_quantized_conv conv2+bn2+sum1+relu2: 2x16x10x10 -> 2x16x10x10 channels last",
        "_contrib_quantized_batch_norm bn3+relu3: 2x16x10x10 -> 2x16x10x10 channels last",
        "_contrib_quantized_fully_connected fc1+relu5"})
    EXPECT_THAT(plan, HasSubstr(line));
  EXPECT_THAT(plan, Not(HasSubstr(" Convolution ")));
  EXPECT_EQ(gpus_->fake.launches() > 0, *GetParam() == '1') << "of graphs";
}

TEST_P(GpuQuantization, ComputesPoolingGroupsAndProductsOn8Bits) {
  const auto session = open();
  const std::string plan = compare(*session, quantized(*session, branches(), {}));
  for (const char* line : {"_contrib_quantized_pooling pool: 2x12x10x10 -> 2x12x5x5 channels last",
                           "_contrib_quantized_conv groups+relu", "_contrib_quantized_elemwise_mul product",
                           "_contrib_quantized_fully_connected dense"})
    EXPECT_THAT(plan, HasSubstr(line));
}

TEST_P(GpuQuantization, SumsApartAndRangesOfEachPassAreThoseOfTheReference) {
  const auto session =
      open({{"MXNET_DISABLE_MKLDNN_QFC_FUSE_ALL", "1"}, {"MXNET_DISABLE_MKLDNN_QEM_FUSE_ALL", "1"}});
  EXPECT_THAT(compare(*session, quantized(*session, branches(), {})),
              HasSubstr("_contrib_requantize product"));
  EXPECT_THAT(compare(*session, quantized(*session, residual(), {}, Calibration::none)),
              HasSubstr("_contrib_dequantize relu5_dequantize"));
}

TEST_P(GpuQuantization, QuantizesOnTheGpu) {
  const auto session = open();
  Bound here = bind(*session, quantized(*session, branches(), {}), {}),
        there = bind(*session, quantized(*session, branches(), gpu(0)), gpu(0));
  EXPECT_THAT(there.executor->describePlan(), HasSubstr("_contrib_quantized_conv first"));
  // The ranges are found by other sums.
  const std::vector<float> data = numbers(7);
  expectNear(there.of(data), here.of(data), 0.02F);
}

}  // namespace
}  // namespace pitwall::test::gpu_quantization_test
