// To 8-bit numbers and back.
#include "tests/runtime/operators/quantized_check.h"

namespace pitwall::test::quantize_test {
namespace {

using testing::HasSubstr;
using Numbers = std::vector<float>;

class Quantize : public QuantizedCheck {
 protected:
  // Of both backends, which agree to the last bit: all outputs.
  std::vector<Numbers> all(const OperatorKindDesc& desc, const std::vector<Array>& inputs) {
    const Call call{.desc = desc, .pass = Pass::inference, .inputs = inputs};
    const Answer theirs = ask(*reference_, call), ours = ask(*onednn_, call);
    std::vector<Numbers> values;
    for (std::size_t i = 0; i < theirs.outputs.size(); ++i) {
      values.push_back(numbersOf(*reference_, theirs.outputs[i]));
      EXPECT_EQ(numbersOf(*onednn_, ours.outputs[i]), values.back()) << call.toString() << " output " << i;
    }
    return values;
  }
};

TEST_F(Quantize, ToNumbersWithSignIsSymmetrical) {
  const Array data = makeArray({6}, {-5, -2, 0, 0.5F, 1, 4});
  EXPECT_EQ(all(QuantizeDesc{DType::int8, true, {-1, 2}}, {data}),
            (std::vector<Numbers>{{-127, -127, 0, 32, 64, 127}, {-2}, {2}}));
  EXPECT_EQ(all(QuantizeDesc{DType::int8}, {data}),
            (std::vector<Numbers>{{-127, -51, 0, 13, 25, 102}, {-5}, {5}}))
      << "with the range of the data";
}

TEST_F(Quantize, ToNumbersWithoutSignBeginsAtTheMinimum) {
  const Array data = makeArray({5}, {-1, 0, 1, 2, 9});
  EXPECT_EQ(all(QuantizeDesc{DType::uint8, true, {0, 2}}, {data}),
            (std::vector<Numbers>{{0, 0, 128, 255, 255}, {0}, {2}}));
  EXPECT_EQ(all(QuantizeDesc{DType::uint8, true, {-1, 4}}, {data}),
            (std::vector<Numbers>{{0, 51, 102, 153, 255}, {-1}, {4}}));
}

TEST_F(Quantize, AndBackIsWithinHalfAStep) {
  for (const DType type : {DType::int8, DType::uint8}) {
    const Array data = random({3, 50});
    const Answer to = ask(*onednn_, {.desc = QuantizeDesc{type}, .pass = Pass::inference, .inputs = {data}});
    const auto back = all(DequantizeDesc{}, to.outputs);
    const float step = type == DType::uint8 ? 2.0F / 255 : 1.0F / 127;
    for (std::size_t i = 0; i < 150; ++i) EXPECT_NEAR(back[0][i], data.floats()[i], 0.501F * step);
  }
}

TEST_F(Quantize, RequantizesSums) {
  // The range of int32 is that of 2^31 - 1 steps.
  const float most = 2147483647.0F / 1000;
  const std::vector<Array> sums{integersOf({4}, DType::int32, {-3000, 0, 500, 2000}), makeArray({1}, {-most}),
                                makeArray({1}, {most})};
  EXPECT_EQ(all(RequantizeDesc{DType::int8, true, {-2, 2}}, sums),
            (std::vector<Numbers>{{-127, 0, 32, 127}, {-2}, {2}}));
  const auto own_range = all(RequantizeDesc{DType::int8}, sums);
  EXPECT_EQ(own_range[0], (Numbers{-127, 0, 21, 85}));
  EXPECT_FLOAT_EQ(own_range[1][0], -3);
  EXPECT_FLOAT_EQ(own_range[2][0], 3);
  EXPECT_THAT(all(DequantizeDesc{}, sums)[0],
              testing::Pointwise(testing::FloatEq(), Numbers{-3, 0, 0.5F, 2}));
}

TEST_F(Quantize, ImagesInEveryLayout) {
  const Shape images{2, 16, 5, 5};
  const Array most = makeArray({1}, {3}), least = makeArray({1}, {-3});
  for (const DType type : {DType::int8, DType::uint8}) {
    for (const bool is_calibrated : {false, true}) {
      compareInEveryLayout({.desc = QuantizeDesc{type, is_calibrated, {-0.5F, 0.7F}},
                            .pass = Pass::inference,
                            .inputs = {random(images)}});
      compareInEveryLayout({.desc = RequantizeDesc{type, is_calibrated, {-1e-7F, 1e-7F}},
                            .pass = Pass::inference,
                            .inputs = {integers(images, DType::int32), least, most}});
    }
    compareInEveryLayout(
        {.desc = DequantizeDesc{}, .pass = Pass::inference, .inputs = {integers(images, type), least, most}});
  }
}

TEST_F(Quantize, TheRangeIsThatOfAllNumbersButNan) {
  Array data = random({3, 7001});
  data.floats()[9000] = 5;
  data.floats()[20000] = -4;
  data.floats()[4096] = std::nanf("");
  const Call call{.desc = QuantizeDesc{DType::uint8}, .pass = Pass::inference, .inputs = {data}};
  for (Backend* const backend : {reference_.get(), onednn_.get()}) {
    const Answer answer = ask(*backend, call);
    EXPECT_EQ(answer.outputs[1].floats()[0], -4);
    EXPECT_EQ(answer.outputs[2].floats()[0], 5);
  }
  const std::vector<float> none(9000, std::nanf(""));
  const Answer nothing =
      ask(*onednn_, {.desc = QuantizeDesc{}, .pass = Pass::inference, .inputs = {makeArray({9000}, none)}});
  EXPECT_EQ(nothing.outputs[1].floats()[0], 0);
  EXPECT_EQ(nothing.outputs[2].floats()[0], 0);
}

TEST_F(Quantize, RescalesBetweenAllTypes) {
  for (const DType to : {DType::float32, DType::int8, DType::uint8, DType::int32}) {
    compareInEveryLayout(
        {.desc = RescaleDesc{100, to}, .pass = Pass::inference, .inputs = {random({2, 16, 5, 5})}});
    for (const DType from : {DType::int8, DType::uint8})
      compareInEveryLayout({.desc = RescaleDesc{0.4F, to},
                            .pass = Pass::inference,
                            .inputs = {integers({2, 16, 5, 5}, from)}});
    const Array sums = integersOf({5}, DType::int32, {-100000, -300, 0, 700, 100000});
    compareIntegers({.desc = RescaleDesc{0.01F, to}, .pass = Pass::inference, .inputs = {sums}});
  }
}

TEST_F(Quantize, AnArrayOfZerosHasARange) {
  const Array zeros = makeArray({3}, {0, 0, 0});
  EXPECT_EQ(all(QuantizeDesc{DType::int8}, {zeros}), (std::vector<Numbers>{{0, 0, 0}, {0}, {0}}));
  EXPECT_EQ(all(QuantizeDesc{DType::uint8}, {zeros}), (std::vector<Numbers>{{0, 0, 0}, {0}, {0}}));
}

TEST_F(Quantize, MistakesAreMessages) {
  const auto failure = [this](const OperatorKindDesc& desc, std::vector<TensorSpec> specs) {
    const auto prepared = reference_->prepare(desc, Pass::inference, specs);
    return prepared.has_value() ? "" : prepared.error().message;
  };
  EXPECT_THAT(failure(QuantizeDesc{DType::int32}, {{{3}}}),
              HasSubstr("the output is int32: must be int8 or uint8"));
  EXPECT_THAT(failure(QuantizeDesc{DType::int8, true, {1, -1}}, {{{3}}}), HasSubstr("the range is 1 to -1"));
  EXPECT_THAT(failure(DequantizeDesc{}, {{{3}}, {{1}}, {{1}}}), HasSubstr("data is float32"));
  EXPECT_THAT(failure(RequantizeDesc{}, {{{3}, DType::int8}, {{1}}, {{1}}}),
              HasSubstr("data is int8, must be int32"));
  EXPECT_THAT(failure(RescaleDesc{0}, {{{3}}}), HasSubstr("the scale is 0"));
}

}  // namespace
}  // namespace pitwall::test::quantize_test
