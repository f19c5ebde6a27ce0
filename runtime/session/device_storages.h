// The storages of a session: one per device, opened when first used, each with its accounts and counters.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "db/mutex.h"
#include "runtime/memory.h"
#include "runtime/memory/usage_counter.h"
#include "runtime/session/memory_counters.h"

namespace pitwall::session {

// Threads: every call from any thread.
class DeviceStorages {
 public:
  // `profiler` outlives this object and all blocks.
  explicit DeviceStorages(Profiler& profiler) : profiler_(profiler) {}

  // The settings of the pools, and where memory that is not the process's heap comes from; before the first of(). Opens cpu(0).
  // Errors: those of Storage::open.
  using Options = std::array<StorageOptions, kDeviceKinds>;  // by kind
  using MemoryOf = std::function<Result<std::shared_ptr<SystemMemory>>(Device)>;
  Status open(const Options& options, MemoryOf memory_of = {});

  // Opened at the first call. Errors: unsupported, invalidInput: naming the device.
  Result<Storage*> of(Device device) {
    if (isValid(device)) {
      Storage* const known = slotOf(device).load(std::memory_order_acquire);
      if (known != nullptr) [[likely]]
        return known;
    }
    return openFor(device);
  }

  // Records the current values of all counters.
  void sample();

  // Peak live bytes in memory of the host, of all its devices together.
  Bytes hostPeakBytes() const { return host_.read().peak_bytes; }

 private:
  struct One {
    One(Profiler& profiler, Device device) : counters(profiler, device) {}
    MemoryCounters counters;  // observes the storage
    std::unique_ptr<Storage> storage;
  };
  std::atomic<Storage*>& slotOf(Device device) {
    return slots_[static_cast<std::size_t>(static_cast<int>(device.kind) * kMaxDevices + device.index)];
  }
  Result<Storage*> openFor(Device device);

  Profiler& profiler_;
  std::array<std::atomic<Storage*>, std::size_t{kDeviceKinds} * kMaxDevices> slots_{};

  memory::UsageCounter host_;  // of the storages in memory of the host
  Mutex mutex_;
  Options options_ PITWALL_GUARDED_BY(mutex_);
  MemoryOf memory_of_ PITWALL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<One>> all_ PITWALL_GUARDED_BY(mutex_);
};

}  // namespace pitwall::session
