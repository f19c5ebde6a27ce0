// NCCL: sums and copies between GPUs. Opened when it is first needed.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "runtime/gpu.h"

namespace pitwall::cuda {

// As GpuPlatform has them.
Result<std::string> collectivesVersion();
Result<std::unique_ptr<GpuCollectives>> openCollectives(std::span<const int> devices);

}  // namespace pitwall::cuda
