#include "runtime/backend/cuda/launch.cuh"
#include "runtime/backend/cuda/operators.h"
#include "runtime/backend/gpu_kernels/pooling.h"
#include "runtime/backend/gpu_kernels/products.h"
#include "runtime/backend/gpu_kernels/shift_gradient.h"

namespace pitwall::cuda {

PITWALL_CUDA_KERNEL(PoolingDesc)
PITWALL_CUDA_KERNEL(ConvolutionDesc)
PITWALL_CUDA_KERNEL(DeconvolutionDesc)
PITWALL_CUDA_KERNEL(NormalizedConvolutionDesc)
PITWALL_CUDA_KERNEL(DotDesc)
PITWALL_CUDA_KERNEL(BatchDotDesc)
PITWALL_CUDA_KERNEL(FullyConnectedDesc)

}  // namespace pitwall::cuda
