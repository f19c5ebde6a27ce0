// The CUDA runtime as a GpuDriver.
#pragma once

#include <memory>

#include "runtime/gpu.h"

namespace pitwall::cuda {

std::unique_ptr<GpuDriver> makeDriver();

}  // namespace pitwall::cuda
