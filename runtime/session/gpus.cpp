#include "runtime/session/gpus.h"

#include <fmt/format.h>

#include <algorithm>

#include "db/try.h"

namespace pitwall::session {

// The reason why there is none is asked for once.
Status Gpus::open(Device device) {
  if (count_ < 0 && !failed_) {
    if (platform_ == nullptr) {
      auto opened = openGpuPlatform();
      if (opened.has_value()) {
        platform_ = *opened;
      } else {
        failed_ = opened.error();
      }
    }
    if (platform_ != nullptr) {
      const Result<int> count = platform_->driver().deviceCount();
      if (count.has_value()) {
        count_ = *count;
      } else {
        failed_ = count.error();
      }
    }
  }
  if (failed_) return fail(failed_->code, fmt::format("device {}: {}", toString(device), failed_->message));
  if (device.index < count_) return {};
  return fail(ErrorCode::unsupported, fmt::format("device {}: this machine has {} GPU{}, from gpu(0) on",
                                                  toString(device), count_, count_ == 1 ? "" : "s"));
}

Result<GpuDriver*> Gpus::driver(Device device) {
  PITWALL_TRY(checkDevice(device));
  const ScopedLock lock(mutex_);
  PITWALL_TRY(open(device));
  if (device.kind == DeviceKind::gpu && settings_.boolean("MXNET_ENABLE_GPU_P2P")) connect(device.index);
  return &platform_->driver();
}

// Where two GPUs cannot read each other's memory, their copies go through the host.
void Gpus::connect(int device) {
  if (!used_.insert(device).second) return;
  for (const int other : used_) {
    if (other == device) continue;
    (void)platform_->driver().enablePeerAccess(device, other);
    (void)platform_->driver().enablePeerAccess(other, device);
  }
}

Result<GpuWork*> Gpus::work(Device device) {
  PITWALL_TRY(checkDevice(device));
  const ScopedLock lock(mutex_);
  PITWALL_TRY(open(device));
  if (work_ == nullptr) work_ = std::make_unique<GpuWork>(platform_->driver(), storage_of_);
  return work_.get();
}

Result<Backend*> Gpus::backend(Device device) {
  PITWALL_TRY(checkDevice(device));
  const ScopedLock lock(mutex_);
  PITWALL_TRY(open(device));
  if (backend_ == nullptr) backend_ = PITWALL_TRY(platform_->openBackend(settings_));
  return backend_.get();
}

Result<GpuExchange*> Gpus::exchange() {
  GpuWork* const of_all = PITWALL_TRY(work(gpu(0)));
  const ScopedLock lock(mutex_);
  if (exchange_ == nullptr)
    exchange_ = PITWALL_TRY(GpuExchange::open(
        *platform_, *of_all,
        static_cast<int>(std::min<std::int64_t>(settings_.integer("MXNET_UPDATE_AGGREGATION_SIZE"), 1024))));
  return exchange_.get();
}

Result<void*> Gpus::enter(Device device, std::span<const StreamPlace> after) {
  const Result<GpuWork*> of_device = work(device);
  if (!of_device.has_value()) return static_cast<void*>(nullptr);
  return (*of_device)->enter(device, after);
}

void* Gpus::finish(Device device, Completion completion) {
  const Result<GpuWork*> of_device = work(device);
  if (of_device.has_value()) return (*of_device)->finish(device, std::move(completion));
  completion({});  // nothing is on a stream
  return nullptr;
}

bool Gpus::waitForFrees() {
  GpuWork* work = nullptr;
  {
    const ScopedLock lock(mutex_);
    work = work_.get();
  }
  return work != nullptr && work->waitForFrees();
}

// Outside of the lock: what ends uses storages, which may ask for a driver.
void Gpus::close() {
  std::unique_ptr<GpuWork> ended;
  std::unique_ptr<GpuExchange> ended_first;
  {
    const ScopedLock lock(mutex_);
    ended_first.swap(exchange_);
    ended.swap(work_);
  }
}

}  // namespace pitwall::session
