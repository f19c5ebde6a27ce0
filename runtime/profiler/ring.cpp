#include "runtime/profiler/ring.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace pitwall::profiler {

static_assert(sizeof(Ring) <= 4096);

Ring* Ring::create(std::uint64_t records) {
  const std::size_t bytes = kHeaderBytes + records * sizeof(Record);
  // MAP_POPULATE: the page faults happen here, not under a record.
  void* memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  return new (memory) Ring(records);
}

void Ring::destroy(Ring* ring) {
  if (ring != nullptr) munmap(static_cast<void*>(ring), kHeaderBytes + ring->capacity_ * sizeof(Record));
}

void Ring::drop(Ticks time) {
  if (time == 0) time = Profiler::now();
  const std::uint64_t dropped = dropped_.load(std::memory_order_relaxed);
  if (dropped == dropped_seen_.load(std::memory_order_relaxed)) {
    drop_first_.store(time, std::memory_order_relaxed);
  }
  drop_last_.store(time, std::memory_order_relaxed);
  dropped_.store(dropped + 1, std::memory_order_release);
}

Ring::Drops Ring::takeDrops() {
  const std::uint64_t dropped = dropped_.load(std::memory_order_acquire);
  const std::uint64_t seen = dropped_seen_.load(std::memory_order_relaxed);
  if (dropped == seen) return {};
  Drops drops;
  drops.count = dropped - seen;
  drops.to = drop_last_.load(std::memory_order_relaxed);
  // A drop between our two loads keeps the stamp of the interval before: no later than the true start.
  drops.from = std::clamp(drop_first_.load(std::memory_order_relaxed), std::min(drops_reported_to_, drops.to),
                          drops.to);
  drops_reported_to_ = drops.to;
  dropped_seen_.store(dropped, std::memory_order_relaxed);
  return drops;
}

void Ring::reset() {
  next_ = tail_seen_ = 0;
  head_ = tail_ = dropped_ = dropped_seen_ = 0;
  drop_first_ = drop_last_ = drops_reported_to_ = 0;
}

}  // namespace pitwall::profiler
