#include "runtime/backend/cuda/launch.cuh"
#include "runtime/backend/cuda/operators.h"
#include "runtime/backend/gpu_kernels/quantized_convolution.h"
#include "runtime/backend/gpu_kernels/quantized_elementwise.h"

namespace pitwall::cuda {

PITWALL_CUDA_KERNEL(QuantizeDesc)
PITWALL_CUDA_KERNEL(DequantizeDesc)
PITWALL_CUDA_KERNEL(RequantizeDesc)
PITWALL_CUDA_KERNEL(RescaleDesc)
PITWALL_CUDA_KERNEL(QuantizedBinaryDesc)
PITWALL_CUDA_KERNEL(QuantizedBatchNormDesc)
PITWALL_CUDA_KERNEL(QuantizedConvolutionDesc)
PITWALL_CUDA_KERNEL(QuantizedFullyConnectedDesc)

}  // namespace pitwall::cuda
