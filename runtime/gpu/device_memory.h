// The memory of GPUs, and that of the host which they reach, as the source of a Storage.
#pragma once

#include <functional>
#include <memory>

#include "runtime/gpu.h"
#include "runtime/memory.h"

namespace pitwall {

// gpu(i) or pinned(i). `driver` outlives it. `wait_for_frees`: SystemMemory::waitForFrees() of a GPU.
std::shared_ptr<SystemMemory> gpuMemory(GpuDriver& driver, Device device,
                                        std::function<bool()> wait_for_frees = {});

}  // namespace pitwall
