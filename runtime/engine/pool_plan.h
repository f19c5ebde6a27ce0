// Which pool runs an operator, and how many threads each pool has.
#pragma once

#include "runtime/engine/worker_pool.h"

namespace pitwall::engine {

enum class PoolKind : std::uint8_t {
  cpuNormal,    // one per cpu index
  cpuPriority,  // one for all cpu indices
  gpuNormal,    // one per gpu, as the rest
  gpuPriority,
  gpuCopy,
  shared,      // EngineType::threaded: one for everything
  sharedCopy,  // for copies
};
inline constexpr std::size_t kPoolKinds = 7;

PoolKind poolKindOf(EngineType type, DeviceKind device, OperatorClass operator_class);
bool isPerDevice(PoolKind kind);
WorkerPool::Options poolOptions(PoolKind kind, int device_index, const EngineOptions& options);

// Errors: invalidInput naming the variable, value and what is allowed.
Status checkWorkerCounts(const EngineOptions& options);

}  // namespace pitwall::engine
