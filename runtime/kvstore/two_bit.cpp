#include "runtime/kvstore/two_bit.h"

#include "runtime/kvstore/parts.h"

namespace pitwall::kvstore {

void compressTwoBit(const float* gradient, float* residual, std::uint8_t* codes, std::int64_t count,
                    float threshold, SumThreads threads) {
  inParts(count, threads, [=](std::int64_t begin, std::int64_t end) {
    compressTwoBitPart(gradient, residual, codes, begin, end, threshold);
  });
  for (std::int64_t byte = (count + 3) / 4; byte < twoBitBytes(count); ++byte) codes[byte] = 0;
}

void decompressTwoBit(std::span<const void* const> codes, float* output, std::int64_t count, float threshold,
                      SumThreads threads) {
  inParts(count, threads,
          [=](std::int64_t begin, std::int64_t end) { sumTwoBitPart(codes, output, begin, end, threshold); });
}

}  // namespace pitwall::kvstore
