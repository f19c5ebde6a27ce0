#include "runtime/backend/cuda/launch.cuh"
#include "runtime/backend/cuda/operators.h"
#include "runtime/backend/gpu_kernels/combine.h"
#include "runtime/backend/gpu_kernels/pointwise.h"

namespace pitwall::cuda {

PITWALL_CUDA_KERNEL(BinaryDesc)
PITWALL_CUDA_KERNEL(ReduceDesc)
PITWALL_CUDA_KERNEL(PointwiseDesc)

}  // namespace pitwall::cuda
