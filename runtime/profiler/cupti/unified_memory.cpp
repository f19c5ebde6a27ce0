#include "runtime/profiler/cupti/unified_memory.h"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>

namespace pitwall::cupti {

namespace {

constexpr CUpti_ActivityUnifiedMemoryCounterKind kCounters[] = {
    CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD,
    CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH,
    CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD,
    CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT,
    CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT,
    CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING,
    CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING,
    CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP,
};

bool isNotSupported(CUptiResult result) {
  switch (result) {
    case CUPTI_ERROR_NOT_SUPPORTED:
    case CUPTI_ERROR_INVALID_KIND:
    case CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED:
    case CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_DEVICE:
    case CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_NON_P2P_DEVICES:
    case CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_WITH_MPS:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
    case CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED: return true;
    default: return false;
  }
}

}  // namespace

CUptiResult UnifiedMemory::enable() {
  CUpti_ActivityUnifiedMemoryCounterConfig counters[std::size(kCounters)] = {};
  for (std::size_t i = 0; i < std::size(kCounters); ++i) {
    counters[i].scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES;
    counters[i].kind = kCounters[i];
    counters[i].enable = 1;
  }
  const CUptiResult result = library_.configureUnifiedMemory(counters, std::size(kCounters));
  return result == CUPTI_SUCCESS ? library_.activityEnable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER)
                                 : result;
}

void UnifiedMemory::settle(CUptiResult result) {
  result_.store(result);
  State before = State::enabling;
  const bool is_wanted =
      state_.compare_exchange_strong(before, result == CUPTI_SUCCESS ? State::on : State::off);
  if (!is_wanted && result == CUPTI_SUCCESS)
    (void)library_.activityDisable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
}

void UnifiedMemory::begin(CUpti_SubscriberHandle subscriber) {
  state_.store(State::enabling);
  const CUptiResult result = enable();
  if (result != CUPTI_ERROR_NOT_INITIALIZED) return settle(result);
  state_.store(State::waiting);
  const CUptiResult watched =
      library_.enableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CU_INIT_FINISHED);
  if (watched == CUPTI_SUCCESS) return;
  state_.store(State::off);
  result_.store(watched);
}

void UnifiedMemory::onDriverReady() {
  State before = State::waiting;
  if (state_.compare_exchange_strong(before, State::enabling)) settle(enable());
}

void UnifiedMemory::end() {
  if (state_.exchange(State::off) == State::on)
    (void)library_.activityDisable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
}

bool UnifiedMemory::isRefused() const { return result_.load() != CUPTI_SUCCESS; }

std::string UnifiedMemory::note(bool uses_managed_memory) const {
  const CUptiResult result = result_.load();
  if (result == CUPTI_SUCCESS || (isNotSupported(result) && !uses_managed_memory)) return "";
  const char* const remedy = result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES
                                 ? "; the NVIDIA driver allows it for administrators only: load it with "
                                   "NVreg_RestrictProfilingToAdminUsers=0"
                                 : "";
  return fmt::format("migrations and page faults of managed memory are not recorded: {}{}",
                     reportedBy(library_, result), remedy);
}

}  // namespace pitwall::cupti
