#include "runtime/device.h"

namespace pitwall {

Status checkDevice(Device device) {
  if (isValid(device)) return {};
  return fail(ErrorCode::invalidInput,
              "device " + toString(device) + ": the index must be in 0.." + std::to_string(kMaxDevices - 1));
}

const char* toString(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::cpu: return "cpu";
    case DeviceKind::gpu: return "gpu";
    case DeviceKind::pinned: return "pinned";
  }
  return "unknown";
}

std::string toString(Device device) {
  return std::string(toString(device.kind)) + "(" + std::to_string(device.index) + ")";
}

std::string traceName(Device device) {
  return std::string(toString(device.kind)) + "/" + std::to_string(device.index);
}

}  // namespace pitwall
