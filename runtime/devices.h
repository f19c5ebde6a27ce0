// The accelerators of this machine. A build without CUDA returns an error.
#pragma once

#include <string>
#include <vector>

#include "db/event.h"
#include "db/result.h"

namespace pitwall {

struct GpuInfo {
  DeviceInfo device;  // kind "gpu"; name, memory
  int multiprocessors = 0;
  int compute_major = 0, compute_minor = 0;
};

// Every GPU, in the driver's order. Errors: unsupported, saying whether this build, the driver or the device
// is missing, with the remedy.
Result<std::vector<GpuInfo>> gpuInfo();

// The same in the form of the trace's devices.
Result<std::vector<DeviceInfo>> gpuDevices();

}  // namespace pitwall
