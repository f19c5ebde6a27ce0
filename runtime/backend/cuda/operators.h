// Pitwall's own kernels, compiled for a device.
#pragma once

#include "runtime/backend/gpu_kernels/operator_list.h"

namespace pitwall::cuda {

#define PITWALL_DECLARE(Desc) \
  gpu_kernels::GpuFunction make(const Desc& desc, Pass pass, Signature& signature);
PITWALL_GPU_OPERATORS(PITWALL_DECLARE)
#undef PITWALL_DECLARE

}  // namespace pitwall::cuda
