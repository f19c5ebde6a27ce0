#include "runtime/profiler/torch/input_text.h"

#include <gtest/gtest.h>

namespace pitwall::torch::input_text_test {
namespace {

TEST(TorchInputText, ShapesAreThoseOfTensorsInTheirPlaces) {
  EXPECT_EQ(shapesText({{64, 3, 28, 28}, {20, 3, 5, 5}, {}, {}}), "64x3x28x28,20x3x5x5");
  EXPECT_EQ(shapesText({{64}, {}, {3}}), "64,,3");
  EXPECT_EQ(shapesText({}), "");
  EXPECT_EQ(shapesText({{}, {}}), "");
}

TEST(TorchInputText, LongListsOfTensorsAreCut) {
  EXPECT_EQ(shapesText(std::vector<std::vector<std::int64_t>>(1000, {128, 128})).size(), 512U);
}

TEST(TorchInputText, TheTypeIsThatOfTheFirstInputWithOne) {
  EXPECT_EQ(firstType({"", "float", "Scalar"}), "float");
  EXPECT_EQ(firstType({}), "");
}

}  // namespace
}  // namespace pitwall::torch::input_text_test
