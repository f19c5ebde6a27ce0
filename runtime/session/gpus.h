// The GPUs of a session: opened when first used, since opening CUDA takes time and memory.
#pragma once

#include <memory>
#include <optional>
#include <set>

#include "db/mutex.h"
#include "db/settings.h"
#include "runtime/backend.h"
#include "runtime/gpu.h"
#include "runtime/gpu/exchange.h"
#include "runtime/gpu/work.h"

namespace pitwall::session {

// Threads: every call from any thread.
class Gpus final : public StreamOrder {
 public:
  // `given`: null = openGpuPlatform() when first used.
  Gpus(const Settings& settings, std::shared_ptr<GpuPlatform> given)
      : settings_(settings), platform_(std::move(given)) {}

  // Where the workspaces come from; before the first work().
  void setStorages(GpuWork::StorageOf storage_of) { storage_of_ = std::move(storage_of); }

  // Errors: unsupported, naming the device: there is no GPU, or none of this index.
  Result<GpuDriver*> driver(Device device);
  Result<GpuWork*> work(Device device);
  Result<Backend*> backend(Device device);
  // Errors: also those of GpuExchange::open().
  Result<GpuExchange*> exchange();

  Result<void*> enter(Device device, std::span<const StreamPlace> after) override;
  void* finish(Device device, Completion completion) override;

  // SystemMemory::waitForFrees().
  bool waitForFrees();

  // Precondition: all work is done. What was opened before the storages ends before them.
  void close();

 private:
  Status open(Device device) PITWALL_REQUIRES(mutex_);
  void connect(int device) PITWALL_REQUIRES(mutex_);

  const Settings& settings_;
  GpuWork::StorageOf storage_of_;
  Mutex mutex_;
  std::shared_ptr<GpuPlatform> platform_ PITWALL_GUARDED_BY(mutex_);
  std::optional<Error> failed_ PITWALL_GUARDED_BY(mutex_);  // why there is no platform
  std::set<int> used_ PITWALL_GUARDED_BY(mutex_);
  int count_ PITWALL_GUARDED_BY(mutex_) = -1;  // -1 = not asked yet
  std::unique_ptr<GpuWork> work_ PITWALL_GUARDED_BY(mutex_);
  std::unique_ptr<Backend> backend_ PITWALL_GUARDED_BY(mutex_);
  std::unique_ptr<GpuExchange> exchange_ PITWALL_GUARDED_BY(mutex_);
};

// Closes them at its end.
class GpusClosed {
 public:
  explicit GpusClosed(Gpus& gpus) : gpus_(gpus) {}
  ~GpusClosed() { gpus_.close(); }
  GpusClosed(const GpusClosed&) = delete;
  GpusClosed& operator=(const GpusClosed&) = delete;

 private:
  Gpus& gpus_;
};

}  // namespace pitwall::session
