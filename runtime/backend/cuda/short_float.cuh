// Numbers of 16 bits by the instructions of a device. Only for .cu files.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "runtime/backend/gpu_kernels/elements.h"

namespace pitwall::gpu_kernels {

__device__ inline float loaded(Float16 x) { return __half2float(__ushort_as_half(x.bits)); }
__device__ inline float loaded(BFloat16 x) { return __bfloat162float(__ushort_as_bfloat16(x.bits)); }
__device__ inline Float16 roundedTo(Float16, float x) { return {__half_as_ushort(__float2half_rn(x))}; }
__device__ inline BFloat16 roundedTo(BFloat16, float x) {
  return {__bfloat16_as_ushort(__float2bfloat16_rn(x))};
}

}  // namespace pitwall::gpu_kernels
