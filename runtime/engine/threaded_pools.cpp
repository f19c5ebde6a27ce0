// Starting and stopping the worker pools.
#include <fmt/format.h>

#include "db/try.h"
#include "runtime/engine/threaded_engine.h"

namespace pitwall::engine {

void ThreadedEngine::stop() {
  ThreadState& thread = threads_.local();
  flush(thread);
  finishAll();
  running_.store(false, std::memory_order_release);
  for (PoolSlots& slots : pools_) {
    for (auto& slot : slots) slot.store(nullptr, std::memory_order_release);
  }
  std::vector<std::unique_ptr<WorkerPool>> ended;
  {
    const ScopedLock guard(mutex_);
    ended.swap(all_pools_);
  }
}

Status ThreadedEngine::start(const EngineOptions& options) {
  if (options.type != type_) {
    return fail(ErrorCode::invalidInput,
                fmt::format("start() of a {} with the options of a {}: open another engine", toString(type_),
                            toString(options.type)));
  }
  PITWALL_TRY(checkWorkerCounts(options));
  {
    const ScopedLock guard(mutex_);
    if (running_.load(std::memory_order_relaxed)) {
      return fail(ErrorCode::invalidInput, "start() of a running engine: stop() it first");
    }
    options_ = options;
    running_.store(true, std::memory_order_release);
  }
  // Only this pool is not created on demand, since work that must not wait goes there.
  if (type_ != EngineType::threadedPerDevice) return {};
  const Result<WorkerPool*> pool = makePool(PoolKind::cpuPriority, 0);
  if (pool.has_value()) return {};
  running_.store(false, std::memory_order_release);
  return fail(pool.error());
}

// nullptr when the operator must run on the calling thread: the engine is stopped (then every pushed operator
// is ready at once), or there are no threads (then the operator is set to fail).
WorkerPool* ThreadedEngine::poolFor(const Operator& op) {
  const PoolKind kind = poolKindOf(type_, op.device_kind, op.operator_class);
  const int index = isPerDevice(kind) ? op.device_index : 0;
  std::atomic<WorkerPool*>& slot = pools_[static_cast<std::size_t>(kind)][static_cast<std::size_t>(index)];
  WorkerPool* const pool = slot.load(std::memory_order_acquire);
  if (pool != nullptr) [[likely]]
    return pool;
  if (!running_.load(std::memory_order_acquire)) return nullptr;
  const Result<WorkerPool*> made = makePool(kind, index);
  if (made.has_value()) return *made;
  runner_.errors().add(op, made.error());
  return nullptr;
}

Result<WorkerPool*> ThreadedEngine::makePool(PoolKind kind, int device_index) {
  const ScopedLock guard(mutex_);
  std::atomic<WorkerPool*>& slot =
      pools_[static_cast<std::size_t>(kind)][static_cast<std::size_t>(device_index)];
  if (WorkerPool* made = slot.load(std::memory_order_relaxed); made != nullptr) return made;
  std::unique_ptr<WorkerPool> pool =
      PITWALL_TRY(WorkerPool::start(poolOptions(kind, device_index, options_), *this));
  all_pools_.push_back(std::move(pool));
  slot.store(all_pools_.back().get(), std::memory_order_release);
  return all_pools_.back().get();
}

}  // namespace pitwall::engine
