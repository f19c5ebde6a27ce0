// Fills memory of a device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace pitwall::cuda {

cudaError_t fillWords(void* to, std::uint32_t pattern, std::int64_t words, cudaStream_t stream);

}  // namespace pitwall::cuda
