#include "runtime/engine/pool_plan.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "db/check.h"

namespace pitwall::engine {
namespace {

constexpr int kMostWorkers = 1024;  // per pool; more is a mistake

constexpr std::size_t kClasses = 7;
using enum PoolKind;
// By OperatorClass: normal, copyFromGpu, copyToGpu, prioritized, inlineAsync, deletion, noSkip.
constexpr std::array<PoolKind, kClasses> kOnCpu = {cpuNormal, cpuNormal, cpuNormal, cpuPriority,
                                                   cpuNormal, cpuNormal, cpuNormal};
constexpr std::array<PoolKind, kClasses> kOnGpu = {gpuNormal, gpuCopy,   gpuCopy,  gpuPriority,
                                                   gpuNormal, gpuNormal, gpuNormal};
constexpr std::array<PoolKind, kClasses> kShared = {shared, sharedCopy, sharedCopy, shared,
                                                    shared, shared,     shared};

}  // namespace

PoolKind poolKindOf(EngineType type, DeviceKind device, OperatorClass operator_class) {
  const auto index = static_cast<std::size_t>(operator_class);
  if (type != EngineType::threadedPerDevice) return kShared[index];
  return device == DeviceKind::gpu ? kOnGpu[index] : kOnCpu[index];
}

bool isPerDevice(PoolKind kind) { return kind != cpuPriority && kind != shared && kind != sharedCopy; }

WorkerPool::Options poolOptions(PoolKind kind, int device_index, const EngineOptions& options) {
  const std::string gpu = fmt::format("gpu{}", device_index);
  switch (kind) {
    case cpuNormal: {
      const std::string name = device_index == 0 ? "cpu worker" : fmt::format("cpu{} worker", device_index);
      return {name, options.cpu_workers, QueueOrder::arrival, options.on_worker_start, cpu(device_index)};
    }
    case cpuPriority:
      return {"cpu priority worker", options.cpu_priority_workers, QueueOrder::priority,
              options.on_worker_start};
    case gpuNormal:
      return {gpu + " worker", options.gpu_workers, QueueOrder::arrival, options.on_worker_start,
              pitwall::gpu(device_index)};
    case gpuPriority:
      return {gpu + " priority worker", options.gpu_workers, QueueOrder::priority, options.on_worker_start,
              pitwall::gpu(device_index)};
    case gpuCopy:
      return {gpu + " copy worker", options.gpu_copy_workers, QueueOrder::priority, options.on_worker_start,
              pitwall::gpu(device_index)};
    case shared: return {"worker", options.pooled_workers, QueueOrder::arrival, options.on_worker_start};
    case sharedCopy: return {"copy worker", 1, QueueOrder::arrival, options.on_worker_start};
  }
  PITWALL_CHECK(false, "pool kind %d", static_cast<int>(kind));
  std::abort();  // never reached; g++ without optimisation does not see this
}

Status checkWorkerCounts(const EngineOptions& options) {
  const std::array<std::pair<const char*, int>, 5> counts = {{
      {"MXNET_CPU_WORKER_NTHREADS", options.cpu_workers},
      {"MXNET_CPU_PRIORITY_NTHREADS", options.cpu_priority_workers},
      {"MXNET_GPU_WORKER_NTHREADS", options.gpu_workers},
      {"MXNET_GPU_COPY_NTHREADS", options.gpu_copy_workers},
      {"EngineOptions::pooled_workers", options.pooled_workers},
  }};
  for (const auto& [name, value] : counts) {
    if (value >= 1 && value <= kMostWorkers) continue;
    return fail(ErrorCode::invalidInput,
                fmt::format("{}={}: must be a number of threads, 1..{}", name, value, kMostWorkers));
  }
  return {};
}

}  // namespace pitwall::engine
