#include "runtime/gpu/device_memory.h"

namespace pitwall {
namespace {

class DeviceMemory final : public SystemMemory {
 public:
  DeviceMemory(GpuDriver& driver, int index) : driver_(driver), index_(index) {}
  void* allocate(Bytes size) override { return driver_.allocate(index_, size); }
  void free(void* data, Bytes) override { driver_.free(index_, data); }
  std::optional<Room> room() override {
    const auto info = driver_.memoryInfo(index_);
    if (!info.has_value()) return std::nullopt;
    return Room{info->free_bytes, info->total_bytes};
  }

 private:
  GpuDriver& driver_;
  const int index_;
};

class PinnedMemory final : public SystemMemory {
 public:
  PinnedMemory(GpuDriver& driver, int index) : driver_(driver), index_(index) {}
  void* allocate(Bytes size) override { return driver_.allocatePinned(index_, size); }
  void free(void* data, Bytes) override { driver_.freePinned(data); }

 private:
  GpuDriver& driver_;
  const int index_;
};

}  // namespace

std::shared_ptr<SystemMemory> gpuMemory(GpuDriver& driver, Device device) {
  if (device.kind == DeviceKind::pinned) return std::make_shared<PinnedMemory>(driver, device.index);
  return std::make_shared<DeviceMemory>(driver, device.index);
}

}  // namespace pitwall
