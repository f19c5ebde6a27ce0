// Where each device's memory comes from.
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <string>

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
  std::ifstream file("/proc/meminfo");
  Bytes total = -1, available = -1;
  std::string name, unit;
  for (Bytes kilobytes = 0; (total < 0 || available < 0) && file >> name >> kilobytes;
       std::getline(file, unit)) {
    if (name == "MemTotal:") total = kilobytes * 1024;
    if (name == "MemAvailable:") available = kilobytes * 1024;
  }
  if (total < 0 || available < 0) return std::nullopt;
  return SystemMemory::Room{available, total};
}

Result<std::shared_ptr<SystemMemory>> systemMemory(Device device) {
  PITWALL_TRY(checkDevice(device));
  if (device.kind == DeviceKind::cpu) return std::shared_ptr<SystemMemory>(std::make_shared<Heap>());
  return fail(ErrorCode::unsupported,
              fmt::format("device {}: {} memory comes from a session's GPUs (Session::storage)",
                          toString(device), toString(device.kind)));
}

}  // namespace pitwall
