#include "runtime/backend/cuda/launch.cuh"
#include "runtime/backend/cuda/operators.h"
#include "runtime/backend/gpu_kernels/move.h"

namespace pitwall::cuda {

PITWALL_CUDA_KERNEL(ConcatDesc)
PITWALL_CUDA_KERNEL(SliceAxisDesc)
PITWALL_CUDA_KERNEL(SliceChannelDesc)
PITWALL_CUDA_KERNEL(TransposeDesc)
PITWALL_CUDA_KERNEL(TakeDesc)
PITWALL_CUDA_KERNEL(EmbeddingDesc)

}  // namespace pitwall::cuda
