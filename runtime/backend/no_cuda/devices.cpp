// A build without CUDA.
#include "runtime/devices.h"

namespace pitwall {

Result<std::vector<GpuInfo>> gpuInfo() {
  return fail(ErrorCode::unsupported,
              "no GPU can be used: Pitwall was built without CUDA (configure with PITWALL_CUDA=ON where the "
              "CUDA toolkit is installed)");
}

}  // namespace pitwall
