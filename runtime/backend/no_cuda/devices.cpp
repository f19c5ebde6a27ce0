// A build without CUDA.
#include "runtime/devices.h"

#include "runtime/gpu.h"

namespace pitwall {

static Failure withoutCuda() {
  return fail(ErrorCode::unsupported,
              "no GPU can be used: Pitwall was built without CUDA (configure with PITWALL_CUDA=ON where the "
              "CUDA toolkit is installed)");
}

Result<std::vector<GpuInfo>> gpuInfo() { return withoutCuda(); }

Result<std::shared_ptr<GpuPlatform>> openGpuPlatform() { return withoutCuda(); }

}  // namespace pitwall
