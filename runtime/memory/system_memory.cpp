// Where each device's memory comes from.
#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "db/proc_files.h"
#include "db/try.h"
#include "runtime/memory.h"

namespace pitwall {
namespace {

class Heap final : public SystemMemory {
 public:
  void* allocate(Bytes size) override {
    void* data = nullptr;
    const int failed = posix_memalign(&data, kStorageAlignment, static_cast<std::size_t>(size));
    return failed == 0 ? data : nullptr;
  }
  void free(void* data, Bytes) override { std::free(data); }
  std::optional<Room> room() override { return hostRoom(); }
};

}  // namespace

std::optional<SystemMemory::Room> hostRoom() {
  const std::string text = host::readFile("/proc/meminfo").value_or("");
  const auto total = host::fieldOf(text, "MemTotal"), available = host::fieldOf(text, "MemAvailable");
  if (!total || !available) return std::nullopt;
  return SystemMemory::Room{*available * 1024, *total * 1024};
}

Result<std::shared_ptr<SystemMemory>> systemMemory(Device device) {
  PITWALL_TRY(checkDevice(device));
  if (device.kind == DeviceKind::cpu) return std::shared_ptr<SystemMemory>(std::make_shared<Heap>());
  return fail(ErrorCode::unsupported,
              fmt::format("device {}: {} memory comes from a session's GPUs (Session::storage)",
                          toString(device), toString(device.kind)));
}

}  // namespace pitwall
