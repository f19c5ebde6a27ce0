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

// Which error an uninitialised driver gives is not documented: after any, one more attempt is made.
void UnifiedMemory::begin(CUpti_SubscriberHandle subscriber) {
  state_.store(State::enabling);
  const CUptiResult result = enable();
  if (result == CUPTI_SUCCESS) return settle(result);
  result_.store(result);
  state_.store(State::waiting);
  const CUptiResult watched =
      library_.enableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CU_INIT_FINISHED);
  if (watched != CUPTI_SUCCESS) state_.store(State::off);
}

void UnifiedMemory::onDriverReady() {
  State before = State::waiting;
  if (state_.compare_exchange_strong(before, State::enabling)) settle(enable());
}

void UnifiedMemory::end() {
  if (state_.exchange(State::off) == State::on)
    (void)library_.activityDisable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
}

std::string UnifiedMemory::note() const {
  const CUptiResult result = result_.load();
  if (result == CUPTI_SUCCESS) return "";
  const char* const remedy = result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES
                                 ? "; the NVIDIA driver allows it for administrators only: load it with "
                                   "NVreg_RestrictProfilingToAdminUsers=0"
                                 : "";
  return fmt::format("migrations and page faults of managed memory are not recorded: {}{}",
                     reportedBy(library_, result), remedy);
}

}  // namespace pitwall::cupti
