// 2-bit compression against a quantizer written from its definition.
#include "runtime/kvstore/two_bit.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/runtime/nn/nn_support.h"

namespace pitwall::test::two_bit_test {
namespace {

using kvstore::compressTwoBit;
using kvstore::decompressTwoBit;
using kvstore::SumThreads;
using pitwall::twoBitBytes;
using Bytes8 = std::vector<std::uint8_t>;
using Floats = std::vector<float>;

constexpr SumThreads kOne{1, 1000000};

TEST(TwoBit, CodesAreInTheHighBitsFirst) {
  // +t, -t, 0, +t | 0, 0, 0, -t | +t: 11 10 00 11 | 00 00 00 10 | 11 00 00 00
  const Floats gradient{0.5F, -0.5F, 0, 2, 0, 0.49F, -0.49F, -3, 1};
  Floats residual(gradient.size(), 0);
  Bytes8 codes(static_cast<std::size_t>(twoBitBytes(9)), 0xFF);
  compressTwoBit(gradient.data(), residual.data(), codes.data(), 9, 0.5F, kOne);
  EXPECT_EQ(codes, (Bytes8{0b11100011, 0b00000010, 0b11000000, 0}));
  EXPECT_EQ(residual, (Floats{0, 0, 0, 1.5F, 0, 0.49F, -0.49F, -2.5F, 0.5F}));
}

TEST(TwoBit, SixteenElementsTakeAWord) {
  EXPECT_EQ(twoBitBytes(0), 0);
  EXPECT_EQ(twoBitBytes(1), 4);
  EXPECT_EQ(twoBitBytes(16), 4);
  EXPECT_EQ(twoBitBytes(17), 8);
}

TEST(TwoBit, WhatIsNotSentIsSentLater) {
  const float threshold = 0.5F;
  const Floats gradients{0.4F, 0.1F, 0.1F, -0.3F, -0.4F, 0.6F, 0.6F};
  float residual = 0, expected_residual = 0;
  for (const float gradient : gradients) {
    std::uint8_t codes[4];
    compressTwoBit(&gradient, &residual, codes, 1, threshold, kOne);
    float sent = -1;
    const void* all[] = {codes};
    decompressTwoBit(all, &sent, 1, threshold, kOne);
    expected_residual += gradient;
    const float expected = expected_residual >= threshold    ? threshold
                           : expected_residual <= -threshold ? -threshold
                                                             : 0;
    expected_residual -= expected;
    EXPECT_EQ(sent, expected);
    EXPECT_EQ(residual, expected_residual);
  }
}

TEST(TwoBit, ThreadsGiveTheSameAndSumsAreOfWhatWasSent) {
  constexpr std::int64_t kCount = 100003;
  const Floats a = numbers(kCount, 1), b = numbers(kCount, 2);
  const SumThreads three{3, 1};
  const auto compress = [&](const Floats& gradient, SumThreads threads, Floats& residual) {
    Bytes8 codes(static_cast<std::size_t>(twoBitBytes(kCount)));
    compressTwoBit(gradient.data(), residual.data(), codes.data(), kCount, 0.25F, threads);
    return codes;
  };
  Floats left_a(kCount, 0), left_b(kCount, 0), left_again(kCount, 0);
  const Bytes8 of_a = compress(a, kOne, left_a), of_b = compress(b, three, left_b);
  EXPECT_EQ(of_a, compress(a, three, left_again));
  EXPECT_EQ(left_a, left_again);
  const void* all[] = {of_a.data(), of_b.data()};
  Floats sum(kCount);
  decompressTwoBit(all, sum.data(), kCount, 0.25F, three);
  for (std::size_t i = 0; i < sum.size(); ++i)
    ASSERT_NEAR(sum[i], (a[i] - left_a[i]) + (b[i] - left_b[i]), 1e-6) << i;
}

}  // namespace
}  // namespace pitwall::test::two_bit_test
