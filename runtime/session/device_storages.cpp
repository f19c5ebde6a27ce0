#include "runtime/session/device_storages.h"

#include <utility>

#include "db/try.h"

namespace pitwall::session {

Status DeviceStorages::open(const Options& options, MemoryOf memory_of) {
  {
    const ScopedLock lock(mutex_);
    options_ = options;
    memory_of_ = std::move(memory_of);
  }
  PITWALL_TRY(openFor(cpu(0)));
  return {};
}

Result<Storage*> DeviceStorages::openFor(Device device) {
  const ScopedLock lock(mutex_);
  for (const auto& one : all_) {
    if (one->storage->device() == device) return one->storage.get();
  }
  auto one = std::make_unique<One>(profiler_, device);
  PITWALL_TRY(checkDevice(device));
  StorageOptions options = options_[static_cast<std::size_t>(device.kind)];
  if (device.kind != DeviceKind::cpu && memory_of_) options.system = PITWALL_TRY(memory_of_(device));
  options.device = device;
  options.observer = &one->counters;
  options.sum = device.kind == DeviceKind::gpu ? nullptr : &host_;
  one->storage = PITWALL_TRY(Storage::open(options));
  all_.push_back(std::move(one));
  Storage* const opened = all_.back()->storage.get();
  slotOf(device).store(opened, std::memory_order_release);
  // The session writes the row of cpu(0), and those of the GPUs, when the recording starts.
  if (device != cpu(0)) {
    profiler_.withSink([device](TraceSink& sink) {
      sink.device({toString(device.kind), device.index, "", 0});
    });
  }
  return opened;
}

void DeviceStorages::sample() {
  const ScopedLock lock(mutex_);
  for (const auto& one : all_) one->counters.sample(*one->storage);
}

}  // namespace pitwall::session
