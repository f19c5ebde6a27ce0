#include "runtime/profiler/cupti/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "runtime/profiler/cupti/convert_unified_memory.h"

namespace pitwall::cupti {

namespace {

constexpr std::uint32_t kNoStream = 0xFFFFFFFFU;  // CUPTI_SYNCHRONIZATION_INVALID_VALUE

bool isManaged(std::uint32_t memory_kind) {
  return memory_kind == CUPTI_ACTIVITY_MEMORY_KIND_MANAGED ||
         memory_kind == CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC;
}

// The members that all records of device work have. Null when CUPTI could not record the times.
template <class Record>
Activity* addWork(const Record& record, EventKind kind, const Text* name, Activities& into) {
  if (record.start == 0 || record.end == 0) {
    ++into.without_time;
    return nullptr;
  }
  Activity& activity = into.events.emplace_back();
  activity.kind = kind;
  activity.start = record.start;
  activity.end = record.end;
  activity.name = name;
  activity.device = record.deviceId;
  activity.context = record.contextId;
  activity.stream = record.streamId;
  activity.correlation = record.correlationId;
  return &activity;
}

void kernel(const CUpti_ActivityKernel10& record, Names& names, Activities& into) {
  Activity* const activity = addWork(record, EventKind::kernel, names.kernel(record.name), into);
  if (activity == nullptr) return;
  activity->launch = static_cast<std::int32_t>(into.launches.size());
  LaunchFacts& launch = into.launches.emplace_back();
  launch.grid = {record.gridX, record.gridY, record.gridZ};
  launch.block = {record.blockX, record.blockY, record.blockZ};
  launch.registers_per_thread = record.registersPerThread;
  launch.static_shared_bytes = record.staticSharedMemory;
  launch.dynamic_shared_bytes = record.dynamicSharedMemory;
  launch.shared_bytes_configured = record.sharedMemoryExecuted;
  launch.local_bytes = record.localMemoryPerThread;
  activity->args = names.graphArguments(record.graphId);
}

void copy(const CUpti_ActivityMemcpy6& record, Names& names, Activities& into) {
  Activity* const activity =
      addWork(record, EventKind::copy, names.copy(record.copyKind, record.srcKind, record.dstKind), into);
  if (activity == nullptr) return;
  activity->value = static_cast<std::int64_t>(record.bytes);
  activity->args = names.graphArguments(record.graphId);
  if (isManaged(record.srcKind) || isManaged(record.dstKind)) into.uses_managed_memory = true;
}

void peerCopy(const CUpti_ActivityMemcpyPtoP4& record, Names& names, Activities& into) {
  Activity* const activity =
      addWork(record, EventKind::copy, names.peerCopy(record.srcKind, record.dstKind), into);
  if (activity == nullptr) return;
  activity->value = static_cast<std::int64_t>(record.bytes);
  activity->args = names.text(
      fmt::format("{{\"from_device\":{},\"to_device\":{}}}", record.srcDeviceId, record.dstDeviceId));
}

void fill(const CUpti_ActivityMemset4& record, Names& names, Activities& into) {
  Activity* const activity = addWork(record, EventKind::copy, names.fill(record.memoryKind), into);
  if (activity == nullptr) return;
  activity->value = static_cast<std::int64_t>(record.bytes);
  activity->args = names.graphArguments(record.graphId);
  if (isManaged(record.memoryKind)) into.uses_managed_memory = true;
}

// A graph that is recorded as a whole instead of node by node.
void graph(const CUpti_ActivityGraphTrace2& record, Names& names, Activities& into) {
  Activity* const activity =
      addWork(record, EventKind::kernel, names.text(fmt::format("CUDA graph {}", record.graphId)), into);
  if (activity != nullptr) activity->args = names.graphArguments(record.graphId);
}

void call(const CUpti_ActivityAPI& record, Names& names, Activities& into) {
  const bool is_driver = record.kind == CUPTI_ACTIVITY_KIND_DRIVER;
  Activity& activity = into.events.emplace_back();
  activity.place = Activity::Place::thread;
  activity.kind = EventKind::api;
  activity.start = record.start;
  activity.end = record.end;
  activity.name =
      names.call(is_driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API, record.cbid);
  activity.tid = record.threadId;
  activity.correlation = record.correlationId;
  activity.is_driver_call = is_driver;
  if (record.returnValue != 0)
    activity.args = names.text(fmt::format("{{\"return_value\":{}}}", record.returnValue));
}

void synchronisation(const CUpti_ActivitySynchronization2& record, Names& names, Activities& into) {
  if (record.returnValue == CUDA_ERROR_NOT_READY) return;  // a query, which does not wait
  struct Kind {
    CUpti_ActivitySynchronizationType type;
    const char* name;
  };
  static constexpr Kind kKinds[] = {
      {CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE, "Event Sync"},
      {CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT, "Stream Wait Event"},
      {CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, "Stream Sync"},
      {CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE, "Context Sync"},
  };
  const auto* const kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                        [&](const Kind& k) { return k.type == record.type; });
  const char* const name = kind == std::end(kKinds) ? "Sync" : kind->name;
  Activity& activity = into.events.emplace_back();
  activity.place = Activity::Place::synchronisation;
  activity.kind = EventKind::wait;
  activity.start = record.start;
  activity.end = record.end;
  activity.name = names.text(name);
  activity.args = names.text(fmt::format("{{\"cuda_sync_kind\":\"{}\"}}", name));
  activity.may_be_query = record.type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE ||
                          record.type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
  activity.context = record.contextId;
  activity.stream = record.streamId == kNoStream ? 0 : record.streamId;
  activity.correlation = record.correlationId;
}

void memory(const CUpti_ActivityMemory4& record, Activities& into) {
  const bool is_taken = record.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  if (!is_taken && record.memoryOperationType != CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE) return;
  std::string kind = memoryKind(static_cast<std::uint32_t>(record.memoryKind));
  std::transform(kind.begin(), kind.end(), kind.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (isManaged(static_cast<std::uint32_t>(record.memoryKind))) into.uses_managed_memory = true;
  const auto bytes = static_cast<Bytes>(record.bytes);
  into.memory.push_back({record.timestamp, record.deviceId, std::move(kind), is_taken ? bytes : -bytes});
}

void overhead(const CUpti_ActivityOverhead3& record, Names& names, Activities& into) {
  const auto name = [&]() -> const char* {
    switch (record.overheadKind) {
      case CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER: return "driver compiles";
      case CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH: return "CUPTI flushes buffers";
      case CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION: return "CUPTI instruments";
      case CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE: return "CUPTI takes resources";
      case CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING: return "module is loaded";
      case CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING: return "function is loaded";
      case CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL: return "command buffer is full";
      case CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST: return "CUPTI asks for a buffer";
      default: return "CUPTI overhead";
    }
  };
  Activity& activity = into.events.emplace_back();
  activity.place = Activity::Place::overhead;
  activity.kind = EventKind::recorder;
  activity.start = record.start;
  activity.end = record.end;
  activity.name = names.text(name());
}

void device(const CUpti_ActivityDevice5& record, Activities& into) {
  DeviceFacts& facts = into.devices.emplace_back();
  facts.index = record.id;
  if (record.name != nullptr) facts.name = record.name;
  facts.memory_bytes = static_cast<Bytes>(record.globalMemorySize);
  facts.multiprocessors = static_cast<int>(record.numMultiprocessors);
  facts.limits.compute_major = static_cast<int>(record.computeCapabilityMajor);
  facts.limits.compute_minor = static_cast<int>(record.computeCapabilityMinor);
  facts.limits.warp_size = static_cast<int>(record.numThreadsPerWarp);
  facts.limits.warps = static_cast<int>(record.maxWarpsPerMultiprocessor);
  facts.limits.blocks = static_cast<int>(record.maxBlocksPerMultiprocessor);
  facts.limits.registers = static_cast<int>(record.maxRegistersPerMultiprocessor);
  facts.limits.registers_per_block = static_cast<int>(record.maxRegistersPerBlock);
  facts.limits.shared_bytes = record.maxSharedMemoryPerMultiprocessor;
}

// The record as the type of its kind.
template <class Record>
const Record& as(const CUpti_Activity& record) {
  return reinterpret_cast<const Record&>(record);
}

}  // namespace

void convert(const CUpti_Activity& record, Names& names, Activities& into) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return kernel(as<CUpti_ActivityKernel10>(record), names, into);
    case CUPTI_ACTIVITY_KIND_MEMCPY: return copy(as<CUpti_ActivityMemcpy6>(record), names, into);
    case CUPTI_ACTIVITY_KIND_MEMCPY2: return peerCopy(as<CUpti_ActivityMemcpyPtoP4>(record), names, into);
    case CUPTI_ACTIVITY_KIND_MEMSET: return fill(as<CUpti_ActivityMemset4>(record), names, into);
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE: return graph(as<CUpti_ActivityGraphTrace2>(record), names, into);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: return call(as<CUpti_ActivityAPI>(record), names, into);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return synchronisation(as<CUpti_ActivitySynchronization2>(record), names, into);
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
      return convertUnifiedMemory(as<CUpti_ActivityUnifiedMemoryCounter3>(record), names, into);
    case CUPTI_ACTIVITY_KIND_MEMORY2: return memory(as<CUpti_ActivityMemory4>(record), into);
    case CUPTI_ACTIVITY_KIND_OVERHEAD: return overhead(as<CUpti_ActivityOverhead3>(record), names, into);
    case CUPTI_ACTIVITY_KIND_DEVICE: return device(as<CUpti_ActivityDevice5>(record), into);
    case CUPTI_ACTIVITY_KIND_CONTEXT: {
      const auto& context = as<CUpti_ActivityContext3>(record);
      into.contexts.push_back({context.contextId, context.deviceId});
      return;
    }
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
      const auto& link = as<CUpti_ActivityExternalCorrelation>(record);
      if (link.externalKind == CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0)
        into.links.push_back({link.correlationId, link.externalId});
      return;
    }
    default: ++into.unknown; return;
  }
}

}  // namespace pitwall::cupti
