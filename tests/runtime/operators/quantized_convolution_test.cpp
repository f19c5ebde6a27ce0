// Convolutions and dense layers on 8-bit data.
#include "tests/runtime/operators/quantized_check.h"

namespace pitwall::test::quantized_convolution_test {
namespace {

using testing::HasSubstr;
using Type = FusedActivation::Type;

class QuantizedConvolution : public QuantizedCheck {
 protected:
  // Scales that lead to numbers of the output's size.
  Call call(const Shape& data, DType type, const QuantizedConvolutionDesc& d) {
    const ConvolutionDesc& c = d.convolution;
    Shape weight{c.channels, data[1] / c.groups, c.kernel[1]};
    if (data.rank() == 4) weight = {c.channels, data[1] / c.groups, c.kernel[0], c.kernel[1]};
    const float unit = 1 / (60 * std::sqrt(static_cast<float>(weight.elements() / weight[0])));
    return {.desc = d,
            .pass = Pass::inference,
            .inputs = {integers(data, type), weights(weight, d, type), factors(c.channels, 0.5F * unit, unit),
                       factors(c.channels, -3000, 3000)}};
  }
};

TEST_F(QuantizedConvolution, BackendsAgree) {
  const struct {
    Shape data;
    ConvolutionDesc desc;
  } cases[] = {
      {{2, 16, 9, 9}, {.kernel = {3, 3}, .pad = {1, 1}, .channels = 32}},
      {{2, 17, 8, 8}, {.stride = {2, 2}, .channels = 19}},
      {{1, 3, 16, 16}, {.kernel = {7, 7}, .stride = {2, 2}, .pad = {3, 3}, .channels = 16}},
      {{1, 16, 8, 8}, {.kernel = {3, 3}, .pad = {1, 1}, .channels = 16, .groups = 16}},
      {{2, 16, 9, 7}, {.kernel = {3, 2}, .stride = {1, 2}, .dilate = {2, 2}, .channels = 24, .groups = 2}},
      {{1, 6, 7, 7}, {.kernel = {2, 2}, .channels = 9, .groups = 3}},
      {{2, 1, 5, 6}, {.kernel = {2, 3}, .channels = 8}},
      {{3, 8, 1, 1}, {.channels = 5}},
      {{2, 8, 20}, {.kernel = {1, 3}, .pad = {0, 1}, .channels = 6}},
  };
  for (const auto& [data, plain] : cases) {
    for (const DType from : {DType::int8, DType::uint8}) {
      for (const DType to : {DType::float32, DType::int8, DType::uint8}) {
        QuantizedConvolutionDesc desc{.convolution = plain, .output = to};
        compareIntegers(call(data, from, desc));
        desc.convolution.activation = {Type::relu};
        compareIntegers(call(data, from, desc));
      }
    }
  }
}

TEST_F(QuantizedConvolution, SumsOfTheLargestNumbersAreExact) {
  for (const DType type : {DType::int8, DType::uint8}) {
    for (const std::int64_t channels : {3, 32}) {
      const QuantizedConvolutionDesc desc{
          .convolution = {.kernel = {3, 3}, .pad = {1, 1}, .channels = channels}};
      compareIntegers({.desc = desc,
                       .pass = Pass::inference,
                       .inputs = largest({1, channels, 6, 6}, type, {channels, channels, 3, 3}, desc)});
    }
  }
}

TEST_F(QuantizedConvolution, AddsAndLimits) {
  const ConvolutionDesc plain{.kernel = {3, 3}, .pad = {1, 1}, .channels = 24, .adds = true};
  const Shape data{2, 16, 7, 7}, out{2, 24, 7, 7};
  for (const DType to : {DType::int8, DType::uint8}) {
    for (const DType addend : {DType::int8, DType::uint8}) {
      for (const FusedActivation activation : {FusedActivation{}, {Type::relu}, {Type::clip, 10, 90}}) {
        QuantizedConvolutionDesc desc{.convolution = plain, .addend_scale = 0.4F, .output = to};
        desc.convolution.activation = activation;
        Call adding = call(data, DType::uint8, desc);
        adding.inputs.push_back(integers(out, addend));
        compareIntegers(adding);
      }
    }
  }
  QuantizedConvolutionDesc desc{.convolution = plain, .addend_scale = 1};
  Call adding = call(data, DType::uint8, desc);
  adding.inputs.push_back(random(out));
  compareIntegers(adding);
}

TEST_F(QuantizedConvolution, ByHand) {
  // Two channels of one pixel: 10 * 3 + 20 * -4 = -50, and 10 * 1 + 20 * 2 = 50.
  const QuantizedConvolutionDesc desc{.convolution = {.channels = 2}, .output = DType::int8};
  const Pair out = compareIntegers({.desc = desc,
                                    .pass = Pass::inference,
                                    .inputs = {integersOf({1, 2, 1, 1}, DType::uint8, {10, 20}),
                                               integersOf({2, 2, 1, 1}, DType::int8, {3, -4, 1, 2}),
                                               makeArray({2}, {0.5F, 3}), makeArray({2}, {-10, 5})}});
  EXPECT_EQ(numbersOf(*reference_, out.reference.outputs[0]), (std::vector<float>{-30, 127}))
      << "0.5 * (-50 - 10), and 3 * (50 + 5) limited";
}

TEST_F(QuantizedConvolution, MistakesAreMessages) {
  const auto failure = [this](const QuantizedConvolutionDesc& desc, std::vector<TensorSpec> specs) {
    const auto prepared = reference_->prepare(desc, Pass::inference, specs);
    return prepared.has_value() ? "" : prepared.error().message;
  };
  const TensorSpec data{{1, 2, 4, 4}, DType::uint8}, weight{{3, 2, 1, 1}, DType::int8}, each{{3}};
  const QuantizedConvolutionDesc desc{.convolution = {.channels = 3}};
  EXPECT_EQ(failure(desc, {data, weight, each, each}), "");
  EXPECT_THAT(failure(desc, {{{1, 2, 4, 4}}, weight, each, each}),
              HasSubstr("data is float32, must be int8 or uint8"));
  EXPECT_THAT(failure(desc, {data, {{3, 2, 1, 1}}, each, each}),
              HasSubstr("weight is float32, must be int8"));
  EXPECT_THAT(failure(desc, {data, weight, {{4}}, each}), HasSubstr("scale has shape 4, must be 3"));
  EXPECT_THAT(
      failure({.convolution = {.channels = 3, .activation = {Type::tanh}}}, {data, weight, each, each}),
      HasSubstr("relu and clip alone"));
  EXPECT_THAT(failure({.convolution = {.channels = 3, .adds = true}, .output = DType::int8},
                      {data, weight, each, each, {{1, 3, 4, 4}}}),
              HasSubstr("the addend is float32, the output int8"));
}

class QuantizedFullyConnected : public QuantizedCheck {};

TEST_F(QuantizedFullyConnected, BackendsAgree) {
  for (const DType from : {DType::int8, DType::uint8}) {
    for (const DType to : {DType::float32, DType::int32, DType::int8, DType::uint8}) {
      for (const Type activation : {Type::none, Type::relu}) {
        for (const std::int64_t features : {30, 40, 64}) {
          const QuantizedFullyConnectedDesc desc{.dense = {.units = 10, .activation = {activation}},
                                                 .output = to};
          const float unit = to == DType::int32 ? 1 : 1.0F / 600;
          for (const std::int64_t rows : {3, 21})
            compareIntegers({.desc = desc,
                             .pass = Pass::inference,
                             .inputs = {integers({rows, features}, from), weights({10, features}, desc, from),
                                        factors(10, unit / 2, unit), factors(10, -500, 500)}});
        }
      }
    }
  }
}

TEST_F(QuantizedFullyConnected, SumsOfTheLargestNumbersAreExact) {
  for (const DType type : {DType::int8, DType::uint8}) {
    const QuantizedFullyConnectedDesc desc{.dense = {.units = 10}};
    compareIntegers(
        {.desc = desc, .pass = Pass::inference, .inputs = largest({3, 64}, type, {10, 64}, desc)});
  }
}

class QuantizedBatchNorm : public QuantizedCheck {};

TEST_F(QuantizedBatchNorm, BackendsAgreeInEveryLayout) {
  for (const Shape& shape : {Shape{2, 32, 6, 5}, Shape{3, 17, 4, 4}, Shape{4, 20}}) {
    for (const DType from : {DType::int8, DType::uint8}) {
      for (const DType to : {DType::int8, DType::uint8}) {
        Call call{.desc = QuantizedBatchNormDesc{to == DType::uint8, to},
                  .pass = Pass::inference,
                  .inputs = {integers(shape, from), factors(shape[1], -1, 1), factors(shape[1], -60, 60)}};
        compareInEveryLayout(call);
      }
    }
  }
}

class QuantizedBinary : public QuantizedCheck {};

TEST_F(QuantizedBinary, BackendsAgreeInEveryLayout) {
  for (const BinaryType type : {BinaryType::add, BinaryType::multiply}) {
    for (const DType to : {DType::float32, DType::int32, DType::int8, DType::uint8}) {
      const bool adds = type == BinaryType::add;
      const QuantizedBinaryDesc desc{type, adds ? 0.5F : 0.1F, adds ? 0.7F : 0.08F, to};
      compareInEveryLayout(
          {.desc = desc,
           .pass = Pass::inference,
           .inputs = {integers({2, 32, 5, 5}, DType::int8), integers({2, 32, 5, 5}, DType::uint8)}});
    }
  }
}

class QuantizedPooling : public QuantizedCheck {};

TEST_F(QuantizedPooling, MaximumAndAverageOfIntegers) {
  for (const DType type : {DType::int8, DType::uint8}) {
    for (const PoolingDesc& desc : {PoolingDesc{.kernel = {3, 3}, .stride = {2, 2}, .pad = {1, 1}},
                                    PoolingDesc{.type = PoolingType::average, .kernel = {3, 3}},
                                    PoolingDesc{.type = PoolingType::average, .global = true}})
      for (const std::int64_t channels : {16, 17})
        compareInEveryLayout(
            {.desc = desc, .pass = Pass::inference, .inputs = {integers({2, channels, 8, 8}, type)}});
  }
}

}  // namespace
}  // namespace pitwall::test::quantized_convolution_test
