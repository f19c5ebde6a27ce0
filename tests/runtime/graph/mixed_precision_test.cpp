#include "runtime/mixed_precision.h"

#include <gmock/gmock.h>

#include <cmath>

#include "runtime/executor.h"
#include "runtime/models.h"
#include "runtime/optimizer.h"
#include "runtime/pitwall.h"
#include "runtime/short_float.h"

namespace pitwall::mixed_precision_test {
namespace {

using testing::HasSubstr;

TEST(ShortFloat, EveryNumberOf16BitsIsKept) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const Float16 half{static_cast<std::uint16_t>(bits)};
    const BFloat16 brain{static_cast<std::uint16_t>(bits)};
    if (const float value = toFloat(half); !std::isnan(value)) {
      EXPECT_EQ(fromFloat<Float16>(value).bits, bits);
    }
    if (const float value = toFloat(brain); !std::isnan(value)) {
      EXPECT_EQ(fromFloat<BFloat16>(value).bits, bits);
    }
  }
  EXPECT_TRUE(std::isnan(toFloat(fromFloat<Float16>(NAN))));
  EXPECT_TRUE(std::isnan(toFloat(fromFloat<BFloat16>(NAN))));
}

TEST(ShortFloat, RoundsToTheNearestAndOfTwoToTheEven) {
  EXPECT_EQ(toFloat(fromFloat<Float16>(1 + 0x1p-11F)), 1);
  EXPECT_EQ(toFloat(fromFloat<Float16>(1 + 3 * 0x1p-11F)), 1 + 0x1p-9F);
  EXPECT_EQ(toFloat(fromFloat<Float16>(65519)), 65504);
  EXPECT_TRUE(std::isinf(toFloat(fromFloat<Float16>(65520))));
  EXPECT_EQ(toFloat(fromFloat<Float16>(0x1p-24F)), 0x1p-24F) << "the smallest";
  EXPECT_EQ(toFloat(fromFloat<Float16>(0x1p-26F)), 0);
  EXPECT_EQ(toFloat(fromFloat<BFloat16>(1 + 0x1p-8F)), 1);
  EXPECT_EQ(toFloat(fromFloat<BFloat16>(1 + 3 * 0x1p-8F)), 1 + 0x1p-6F);
}

TEST(CastNetwork, ParametersHaveTheTypeAndStatisticsDoNot) {
  const Symbol network = castNetwork(models::make("resnet-8", 10).value(), {.type = DType::float16}).value();
  const InferredTypes types = network.inferTypes({{"data", DType::float32}}).value();
  const auto arguments = network.arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = arguments[i];
    const bool is_wide =
        name == "data" || name == "softmax_label" || name.ends_with("_gamma") || name.ends_with("_beta");
    EXPECT_EQ(types.arguments[i], is_wide ? DType::float32 : DType::float16) << name;
  }
  for (const DType type : types.auxiliary_states) EXPECT_EQ(type, DType::float32);
  for (const DType type : types.outputs) EXPECT_EQ(type, DType::float32);
}

TEST(CastNetwork, MistakesAreMessages) {
  const Symbol network = models::make("resnet-8", 10).value();
  EXPECT_THAT(castNetwork(network, {.type = DType::int8}).error().message,
              HasSubstr("the type is int8, must be float16 or bfloat16"));
  EXPECT_THAT(castNetwork(network, {.inputs = {"image"}}).error().message,
              HasSubstr("'image' is no argument of the network"));
  EXPECT_THAT(castNetwork(network, {.loss_scale = 0}).error().message, HasSubstr("must be positive"));
}

// The weights after some steps, of a dense layer whose classes are learned.
std::vector<float> trained(DType type, float loss_scale) {
  const auto session = Session::open({}).value();
  const Symbol fc =
      Symbol::make("FullyConnected", "fc", {Symbol::variable("data")}, {{"num_hidden", "3"}}).value();
  Symbol network = Symbol::make("SoftmaxOutput", "softmax", {fc}).value();
  if (type != DType::float32)
    network = castNetwork(network, {.type = type, .loss_scale = loss_scale}).value();
  std::map<std::string, NDArray> arrays;
  arrays["data"] =
      NDArray::fromValues(*session, {3, 4}, std::vector<float>{1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1});
  arrays["softmax_label"] = NDArray::fromValues(*session, {3}, std::vector<float>{0, 1, 2});
  Executor::Options options;
  std::vector<nn::ParameterPtr> parameters;
  for (const auto& [name, shape] : {std::pair("fc_weight", Shape{3, 4}), std::pair("fc_bias", Shape{3})}) {
    NDArray& array = arrays[name];
    array = NDArray::zeros(*session, shape, MemoryTag::weights, {}, type);
    array.attachGradient();
    EXPECT_EQ(array.gradient().dtype(), type);
    options.gradients[name] = {array.gradient()};
    parameters.push_back(std::make_shared<nn::Parameter>(nn::Parameter{.name = name, .value = array}));
  }
  const auto executor = Executor::bind(*session, network, arrays, options).value();
  Sgd optimizer(parameters, {.rate = 0.001F, .momentum = 0.9F});
  optimizer.useMultiPrecision(true);
  optimizer.setLossScale(loss_scale);
  for (int step = 0; step < 30; ++step) {
    EXPECT_TRUE(executor->forward(Executor::Mode::training).has_value());
    EXPECT_TRUE(executor->backward().has_value());
    EXPECT_TRUE(optimizer.step(3).has_value());
  }
  return arrays["fc_weight"].toVector().value();
}

// Steps of 1e-4 beside weights of 0.1 would be lost in bfloat16.
TEST(MultiPrecision, TrainsAsFloat32) {
  const std::vector<float> expected = trained(DType::float32, 1);
  for (const DType type : {DType::float16, DType::bfloat16}) {
    const std::vector<float> found = trained(type, 64);
    const float tolerance = type == DType::float16 ? 2e-3F : 1.5e-2F;
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(found[i], expected[i], tolerance * std::abs(expected[0])) << toString(type) << " " << i;
  }
}

}  // namespace
}  // namespace pitwall::mixed_precision_test
