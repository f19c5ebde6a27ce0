// The kinds of records that CUPTI is asked for.
#pragma once

#include <cupti.h>

#include <cstdint>

#include "runtime/profiler/cupti/collector.h"

namespace pitwall::cupti::recorded {

enum class Group : std::uint8_t { facts, work, calls };

struct Kind {
  CUpti_ActivityKind kind;
  const char* name;
  Group group;
};

inline constexpr Kind kKinds[] = {
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "kernels", Group::work},
    {CUPTI_ACTIVITY_KIND_DEVICE, "devices", Group::facts},
    {CUPTI_ACTIVITY_KIND_CONTEXT, "contexts", Group::facts},
    {CUPTI_ACTIVITY_KIND_MEMCPY, "copies", Group::work},
    {CUPTI_ACTIVITY_KIND_MEMCPY2, "copies between GPUs", Group::work},
    {CUPTI_ACTIVITY_KIND_MEMSET, "memory sets", Group::work},
    {CUPTI_ACTIVITY_KIND_RUNTIME, "calls of the CUDA runtime", Group::calls},
    {CUPTI_ACTIVITY_KIND_DRIVER, "calls of the CUDA driver", Group::calls},
    {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, "synchronisation", Group::calls},
    {CUPTI_ACTIVITY_KIND_GRAPH_TRACE, "graphs", Group::work},
    {CUPTI_ACTIVITY_KIND_MEMORY2, "memory", Group::calls},
    {CUPTI_ACTIVITY_KIND_OVERHEAD, "CUPTI's overhead", Group::calls},
    {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, "operators of launches", Group::calls},
};

// Records of GPU work and CUPTI's range profiler disturb each other: each has its own extent.
inline bool isOf(Extent extent, Group group) {
  switch (extent) {
    case Extent::everything:
    case Extent::managed: return true;
    case Extent::kernels: return group != Group::calls;
    case Extent::counters: return group != Group::work;
  }
  return true;
}

// The others are optional.
inline CUpti_ActivityKind requiredBy(Extent extent) {
  return extent == Extent::counters ? CUPTI_ACTIVITY_KIND_RUNTIME : CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
}

}  // namespace pitwall::cupti::recorded
