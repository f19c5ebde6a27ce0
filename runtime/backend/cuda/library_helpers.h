// Kernels that follow the calls of libraries, and what measuring the libraries' engines needs.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/backend.h"
#include "runtime/backend/gpu_kernels/channel_sums.h"
#include "runtime/backend/gpu_kernels/strided_product.h"
#include "runtime/operators/activation.h"
#include "runtime/operators/rnn.h"

namespace pitwall::cuda {

// to = activation(from + bias + addend) for arrays of `elements` of one real type; bias and addend may be nullptr. A channel has
// `pixels` neighbours in memory.
struct EpilogueCall {
  DType type;
  std::int64_t elements, channels, pixels;
  FusedActivation activation;
  const void *from, *bias, *addend;
  void* to;
};
Status launchEpilogue(const KernelContext& context, const EpilogueCall& call);

// The sum of each channel of an array of a real type, in that type. The context's workspace has parts.sizeBytes(1).
Status launchChannelSum(const KernelContext& context, const gpu_kernels::ChannelParts& parts, DType type,
                        const void* from, void* to);

// By plain loops.
Status launchProduct(const KernelContext& context, const gpu_kernels::StridedProduct& product,
                     const float* left, const float* right, float* out);

// A recurrent network whose products are these.
gpu_kernels::GpuFunction rnnOf(const RnnDesc& desc, Pass pass, Signature& signature,
                               std::shared_ptr<const gpu_kernels::StridedProducts> products);

// Numbers between -1 and 1, of a real type.
Status fillWithNoise(void* stream, DType type, void* to, std::int64_t count);

}  // namespace pitwall::cuda
