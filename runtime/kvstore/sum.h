// Sums and copies of arrays on the CPU.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/kvstore/sum_threads.h"

namespace pitwall::kvstore {

// output[i] = inputs[0][i] + inputs[1][i] + ..., added in this order whatever the number of threads. The output may be one of the
// first four inputs.
void sumArrays(std::span<const float* const> inputs, float* output, std::int64_t count, SumThreads threads);

// Writes past the caches, where the processor can: for what is not read soon. The memory must not overlap.
void copyPastCaches(const float* from, float* to, std::int64_t count);

// The memory must not overlap.
void copyArray(const float* from, float* to, std::int64_t count, SumThreads threads);

}  // namespace pitwall::kvstore
