// Kernels that follow the calls of libraries, and what measuring the libraries' engines needs.
#pragma once

#include <cstdint>

#include "runtime/backend.h"
#include "runtime/backend/gpu_kernels/channel_sums.h"
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

// The sum of each channel. The context's workspace has parts.sizeBytes(1).
Status launchChannelSum(const KernelContext& context, const gpu_kernels::ChannelParts& parts,
                        const float* from, float* to);

// Numbers between -1 and 1.
Status fillWithNoise(void* stream, float* to, std::int64_t count);

}  // namespace pitwall::cuda
