// The storage's accounts as counters of the trace, one per tag that is used; sampled, not per allocation.
#pragma once

#include <array>

#include "runtime/memory.h"
#include "runtime/profiler.h"

namespace pitwall::session {

class MemoryCounters {
 public:
  explicit MemoryCounters(Profiler& profiler);

  // Records what has changed since the last sample.
  void sample(const Storage& storage);

 private:
  static constexpr auto kTags = static_cast<std::size_t>(MemoryTag::count);
  Profiler& profiler_;
  std::array<SiteId, kTags> sites_;
  std::array<Bytes, kTags> last_{};
  SiteId pool_site_;  // what the pool has from the system
  Bytes last_reserved_ = 0;
};

}  // namespace pitwall::session
