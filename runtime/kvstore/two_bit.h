// 2-bit compression of gradients, as MXNet's: each element is sent as +threshold, -threshold or 0, and the rest is kept.
//
// Codes: 11 = +threshold, 10 = -threshold, 00 = 0. 16 elements for each 4 bytes; element i is in byte i / 4, the first of a byte in its two
// high bits.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/kvstore/sum_threads.h"

namespace pitwall::kvstore {

// Bytes for the codes of so many elements: a multiple of 4.
constexpr std::int64_t twoBitBytes(std::int64_t count) { return (count + 15) / 16 * 4; }

// residual += gradient; from +threshold on it is sent and subtracted, from -threshold on sent and added.
void compressTwoBit(const float* gradient, float* residual, std::uint8_t* codes, std::int64_t count,
                    float threshold, SumThreads threads);

// output[i] = the sum of the elements that the codes stand for, added in their order.
void decompressTwoBit(std::span<const std::uint8_t* const> codes, float* output, std::int64_t count,
                      float threshold, SumThreads threads);

}  // namespace pitwall::kvstore
