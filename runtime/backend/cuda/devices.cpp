// The GPUs that the CUDA runtime reports. Queries properties only: creates no context, allocates no device
// memory.
#include "runtime/devices.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

namespace pitwall {

namespace {

std::string versionText(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

Failure explain(cudaError_t error) {
  int driver = 0, runtime = 0;
  (void)cudaDriverGetVersion(&driver);  // 0 = none
  (void)cudaRuntimeGetVersion(&runtime);
  if (driver == 0) {
    return fail(
        ErrorCode::unsupported,
        "no GPU can be used: this machine has no NVIDIA driver (or, in a container, it was not passed "
        "in); install the driver, or run the container with its GPUs");
  }
  if (error == cudaErrorInsufficientDriver) {
    return fail(
        ErrorCode::unsupported,
        fmt::format("no GPU can be used: the NVIDIA driver supports CUDA {}, this build needs {}; update "
                    "the driver",
                    versionText(driver), versionText(runtime)));
  }
  if (error == cudaErrorNoDevice) {
    return fail(ErrorCode::unsupported,
                "no GPU can be used: the NVIDIA driver finds none (is CUDA_VISIBLE_DEVICES set?)");
  }
  return fail(ErrorCode::unsupported,
              fmt::format("no GPU can be used: {} ({})", cudaGetErrorString(error), cudaGetErrorName(error)));
}

}  // namespace

Result<std::vector<GpuInfo>> gpuInfo() {
  int count = 0;
  cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count == 0) error = cudaErrorNoDevice;
  if (error != cudaSuccess) return explain(error);
  std::vector<GpuInfo> gpus;
  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties{};
    error = cudaGetDeviceProperties(&properties, index);
    if (error != cudaSuccess) return explain(error);
    GpuInfo gpu;
    gpu.device = {"gpu", index, properties.name, static_cast<Bytes>(properties.totalGlobalMem)};
    gpu.multiprocessors = properties.multiProcessorCount;
    gpu.compute_major = properties.major;
    gpu.compute_minor = properties.minor;
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

}  // namespace pitwall
