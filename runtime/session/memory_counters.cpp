#include "runtime/session/memory_counters.h"

#include <fmt/format.h>

namespace pitwall::session {

MemoryCounters::MemoryCounters(Profiler& profiler) : profiler_(profiler) {
  for (std::size_t tag = 0; tag < kTags; ++tag) {
    const auto name = fmt::format("memory live: {}|bytes", toString(static_cast<MemoryTag>(tag)));
    sites_[tag] = profiler_.site(name, EventKind::scope);
  }
  pool_site_ = profiler_.site("memory reserved: cpu/0|bytes", EventKind::scope);
}

void MemoryCounters::sample(const Storage& storage) {
  if (!profiler_.isRecording()) return;
  for (std::size_t tag = 0; tag < kTags; ++tag) {
    const Bytes live = storage.usage(static_cast<MemoryTag>(tag)).live_bytes;
    if (live == last_[tag]) continue;
    last_[tag] = live;
    profiler_.counter(sites_[tag], static_cast<double>(live));
  }
  const Bytes reserved = storage.total().live_bytes + storage.cachedBytes();
  if (reserved == last_reserved_) return;
  last_reserved_ = reserved;
  profiler_.counter(pool_site_, static_cast<double>(reserved));
}

}  // namespace pitwall::session
