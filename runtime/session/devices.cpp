#include "runtime/devices.h"

namespace pitwall {

Result<std::vector<DeviceInfo>> gpuDevices() {
  auto gpus = gpuInfo();
  if (!gpus.has_value()) return fail(gpus.error());
  std::vector<DeviceInfo> devices;
  for (const GpuInfo& gpu : *gpus) devices.push_back(gpu.device);
  return devices;
}

}  // namespace pitwall
