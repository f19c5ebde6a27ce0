#include "runtime/devices.h"

#include "db/try.h"

namespace pitwall {

Result<std::vector<DeviceInfo>> gpuDevices() {
  auto gpus = PITWALL_TRY(gpuInfo());
  std::vector<DeviceInfo> devices;
  for (const GpuInfo& gpu : gpus) devices.push_back(gpu.device);
  return devices;
}

}  // namespace pitwall
