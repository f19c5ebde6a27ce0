#include "runtime/kvstore/two_bit.h"

#include <algorithm>
#include <array>

#include "runtime/kvstore/parts.h"

namespace pitwall::kvstore {
namespace {

constexpr unsigned kPositive = 3, kNegative = 2;

unsigned codeOf(float gradient, float& residual, float threshold) {
  residual += gradient;
  if (residual >= threshold) {
    residual -= threshold;
    return kPositive;
  }
  if (residual <= -threshold) {
    residual += threshold;
    return kNegative;
  }
  return 0;
}

}  // namespace

void compressTwoBit(const float* gradient, float* residual, std::uint8_t* codes, std::int64_t count,
                    float threshold, SumThreads threads) {
  inParts(count, threads, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; at += 4) {
      unsigned byte = 0;
      const std::int64_t there = std::min<std::int64_t>(4, end - at);
      for (std::int64_t i = 0; i < there; ++i)
        byte |= codeOf(gradient[at + i], residual[at + i], threshold) << (6 - 2 * i);
      codes[at / 4] = static_cast<std::uint8_t>(byte);
    }
  });
  for (std::int64_t byte = (count + 3) / 4; byte < twoBitBytes(count); ++byte) codes[byte] = 0;
}

void decompressTwoBit(std::span<const std::uint8_t* const> codes, float* output, std::int64_t count,
                      float threshold, SumThreads threads) {
  const std::array<float, 4> values = {0, 0, -threshold, threshold};
  inParts(count, threads, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const auto shift = static_cast<unsigned>(6 - 2 * (i % 4));
      float sum = 0;
      for (const std::uint8_t* one : codes) sum += values[(one[i / 4] >> shift) & 3U];
      output[i] = sum;
    }
  });
}

}  // namespace pitwall::kvstore
