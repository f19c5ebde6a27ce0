// 2-bit compression of gradients, as MXNet's, on the CPU: each element is sent as +threshold, -threshold or 0
// (runtime/backend/support/two_bit.h), and the rest is kept.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/backend/support/two_bit.h"
#include "runtime/kvstore/sum_threads.h"

namespace pitwall::kvstore {

void compressTwoBit(const float* gradient, float* residual, std::uint8_t* codes, std::int64_t count,
                    float threshold, SumThreads threads);

// output[i] = the sum of the elements that the codes stand for, added in their order.
void decompressTwoBit(std::span<const void* const> codes, float* output, std::int64_t count, float threshold,
                      SumThreads threads);

}  // namespace pitwall::kvstore
