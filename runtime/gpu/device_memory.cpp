#include "runtime/gpu/device_memory.h"

#include <utility>

namespace pitwall {
namespace {

class DeviceMemory final : public SystemMemory {
 public:
  DeviceMemory(GpuDriver& driver, int index, std::function<bool()> wait_for_frees)
      : driver_(driver), index_(index), wait_for_frees_(std::move(wait_for_frees)) {}
  void* allocate(Bytes size) override { return driver_.allocate(index_, size); }
  void free(void* data, Bytes) override { driver_.free(index_, data); }
  std::optional<Room> room() override {
    const auto info = driver_.memoryInfo(index_);
    if (!info.has_value()) return std::nullopt;
    return Room{info->free_bytes, info->total_bytes};
  }
  bool waitForFrees() override { return wait_for_frees_ && wait_for_frees_(); }

 private:
  GpuDriver& driver_;
  const int index_;
  const std::function<bool()> wait_for_frees_;
};

class PinnedMemory final : public SystemMemory {
 public:
  PinnedMemory(GpuDriver& driver, int index) : driver_(driver), index_(index) {}
  void* allocate(Bytes size) override { return driver_.allocatePinned(index_, size); }
  void free(void* data, Bytes) override { driver_.freePinned(data); }
  std::optional<Room> room() override { return hostRoom(); }

 private:
  GpuDriver& driver_;
  const int index_;
};

}  // namespace

std::shared_ptr<SystemMemory> gpuMemory(GpuDriver& driver, Device device,
                                        std::function<bool()> wait_for_frees) {
  if (device.kind == DeviceKind::pinned) return std::make_shared<PinnedMemory>(driver, device.index);
  return std::make_shared<DeviceMemory>(driver, device.index, std::move(wait_for_frees));
}

}  // namespace pitwall
