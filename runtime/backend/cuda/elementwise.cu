#include "runtime/backend/cuda/fill.h"
#include "runtime/backend/cuda/launch.cuh"
#include "runtime/backend/cuda/operators.h"
#include "runtime/backend/gpu_kernels/elementwise.h"
#include "runtime/backend/gpu_kernels/two_bit.h"
#include "runtime/backend/gpu_kernels/updates.h"

namespace pitwall::cuda {

PITWALL_CUDA_KERNEL(ActivationDesc)
PITWALL_CUDA_KERNEL(AddNDesc)
PITWALL_CUDA_KERNEL(CastDesc)
PITWALL_CUDA_KERNEL(ClipDesc)
PITWALL_CUDA_KERNEL(DropoutDesc)
PITWALL_CUDA_KERNEL(LinearDesc)
PITWALL_CUDA_KERNEL(ReciprocalDesc)
PITWALL_CUDA_KERNEL(ReorderDesc)
PITWALL_CUDA_KERNEL(SgdDesc)
PITWALL_CUDA_KERNEL(NagDesc)
PITWALL_CUDA_KERNEL(AdamDesc)
PITWALL_CUDA_KERNEL(TwoBitCompressDesc)
PITWALL_CUDA_KERNEL(TwoBitSumDesc)

namespace {

struct FillWord {
  std::uint32_t* to;
  std::uint32_t pattern;
  PITWALL_DEVICE void operator()(std::int64_t i) const { to[i] = pattern; }
};

}  // namespace

cudaError_t fillWords(void* to, std::uint32_t pattern, std::int64_t words, cudaStream_t stream) {
  if (words <= 0) return cudaSuccess;
  const auto blocks =
      static_cast<unsigned>(std::min<std::int64_t>((words + kThreads - 1) / kThreads, 1 << 20));
  eachKernel<<<blocks, kThreads, 0, stream>>>(words, FillWord{static_cast<std::uint32_t*>(to), pattern});
  return cudaGetLastError();
}

}  // namespace pitwall::cuda
