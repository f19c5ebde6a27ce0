// Kernels that follow the calls of libraries, and what measuring the libraries' engines needs.
#pragma once

#include <cstdint>

#include "runtime/backend.h"
#include "runtime/operators/activation.h"

namespace pitwall::cuda {

// to = activation(from + bias + addend) for arrays of `elements`; bias and addend may be nullptr. A channel has `pixels`
// neighbours in memory.
struct EpilogueCall {
  std::int64_t elements, channels, pixels;
  FusedActivation activation;
  const float *from, *bias, *addend;
  float* to;
};
Status launchEpilogue(const KernelContext& context, const EpilogueCall& call);

// Sums of the columns of a matrix of rows x columns, with a workspace of channelSumBytes().
Bytes channelSumBytes(std::int64_t rows, std::int64_t columns);
Status launchChannelSum(const KernelContext& context, std::int64_t rows, std::int64_t columns,
                        const float* from, void* workspace, float* to);

// Numbers between -1 and 1.
Status fillWithNoise(void* stream, float* to, std::int64_t count);

}  // namespace pitwall::cuda
