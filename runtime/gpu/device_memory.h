// The memory of GPUs, and that of the host which they reach, as the source of a Storage.
#pragma once

#include <memory>

#include "runtime/gpu.h"
#include "runtime/memory.h"

namespace pitwall {

// gpu(i) or pinned(i). `driver` outlives it.
std::shared_ptr<SystemMemory> gpuMemory(GpuDriver& driver, Device device);

}  // namespace pitwall
