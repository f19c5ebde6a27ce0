// The devices that hold arrays and run operators. A plain value; a device needs no hardware until it is used.
//
// cpu(0), cpu(1), ... are devices with separate memory accounts and worker threads in the same machine, so
// that programs for several devices can be tried without a GPU. pinned(i) is memory of the host that gpu(i)
// copies without a detour; its operators run on the CPU.
#pragma once

#include <cstdint>
#include <string>

#include "db/result.h"

namespace pitwall {

// The numbers are stored in recordings: append, never renumber.
enum class DeviceKind : std::uint8_t { cpu = 0, gpu = 1, pinned = 2 };
inline constexpr int kDeviceKinds = 3;
inline constexpr int kMaxDevices = 64;  // of each kind: indices 0 to 63

struct Device {
  DeviceKind kind = DeviceKind::cpu;
  int index = 0;
  friend auto operator<=>(const Device&, const Device&) = default;
};

constexpr Device cpu(int index = 0) { return {DeviceKind::cpu, index}; }
constexpr Device gpu(int index = 0) { return {DeviceKind::gpu, index}; }
constexpr Device pinned(int index = 0) { return {DeviceKind::pinned, index}; }

constexpr bool isValid(Device device) { return device.index >= 0 && device.index < kMaxDevices; }
// Errors: invalidInput naming a device that is not valid.
Status checkDevice(Device device);

const char* toString(DeviceKind kind);  // "cpu", "gpu", "pinned"
std::string toString(Device device);    // "cpu(1)", for messages
std::string traceName(Device device);   // "cpu/1", as traces and MXNet's profiler spell it

}  // namespace pitwall
