#include "runtime/backend/cuda/launch.cuh"
#include "runtime/backend/cuda/operators.h"
#include "runtime/backend/gpu_kernels/batch_norm.h"
#include "runtime/backend/gpu_kernels/layer_norm.h"
#include "runtime/backend/gpu_kernels/lrn.h"
#include "runtime/backend/gpu_kernels/rows.h"

namespace pitwall::cuda {

PITWALL_CUDA_KERNEL(SoftmaxDesc)
PITWALL_CUDA_KERNEL(SoftmaxOutputDesc)
PITWALL_CUDA_KERNEL(SoftmaxCrossEntropyDesc)
PITWALL_CUDA_KERNEL(LayerNormDesc)
PITWALL_CUDA_KERNEL(BatchNormDesc)
PITWALL_CUDA_KERNEL(LrnDesc)

}  // namespace pitwall::cuda
