#include "runtime/profiler/ring.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace pitwall::profiler {

namespace {

std::size_t bytesOf(std::uint64_t records) { return ring::kPage + records * sizeof(Record); }

// The page faults happen here, not while recording. Reading is not enough for a page of a shared file.
void touch(void* memory, std::size_t bytes) {
  auto* const first = static_cast<volatile char*>(memory);
  for (std::size_t at = 0; at < bytes; at += ring::kPage) first[at] = first[at];
}

void* mapAnonymous(std::size_t bytes, bool touched) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | (touched ? MAP_POPULATE : MAP_NORESERVE), -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

// The extent's header is in its place already.
void* mapExtent(RingFile& file, std::size_t bytes) {
  void* const memory = file.mapExtent(ring::kRingExtent, bytes);
  if (memory != nullptr) touch(memory, bytes);
  return memory;
}

}  // namespace

Ring* createRing(std::uint64_t records, RingFile* file, Waker* waker) {
  const std::size_t bytes = bytesOf(records);
  void* memory = file == nullptr ? nullptr : mapExtent(*file, bytes);
  if (memory == nullptr) memory = mapAnonymous(bytes, true);
  if (memory == nullptr) return nullptr;
  Ring* const made = new (memory) Ring;  // the mapping is zero-filled, a valid state
  made->extent = {ring::kRingExtent, 0, bytes};
  made->capacity = records;
  made->waker = reinterpret_cast<std::uintptr_t>(waker);
  made->tail_seen = 0 - records / 2;
  return made;
}

void destroyRing(Ring* ring) {
  if (ring != nullptr) munmap(static_cast<void*>(ring), ring->extent.bytes);
}

bool moveRing(Ring* ring, RingFile* file, bool touched) {
  const std::size_t bytes = ring->extent.bytes;
  void* const fresh = file == nullptr ? mapAnonymous(bytes, touched) : mapExtent(*file, bytes);
  if (fresh == nullptr) return false;
  std::memcpy(fresh, static_cast<const void*>(ring), ring::kPage);
  // Replaces the old mapping atomically: a late thread writes into one of the two.
  if (mremap(fresh, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, static_cast<void*>(ring)) == MAP_FAILED) {
    munmap(fresh, bytes);
    return false;
  }
  return true;
}

void release(Ring& ring, std::uint64_t tail, std::uint64_t events) {
  const std::uint64_t releases = ring.releases.load(std::memory_order_relaxed) + 1;
  ring.released[releases & 1U] = {tail, events};
  ring.releases.store(releases, std::memory_order_release);
  ring.tail.store(tail, std::memory_order_release);
}

Drops takeDrops(Ring& ring) {
  const std::uint64_t dropped = ring.dropped.load(std::memory_order_acquire);
  const std::uint64_t seen = ring.dropped_seen.load(std::memory_order_relaxed);
  if (dropped == seen) return {};
  Drops drops;
  drops.count = dropped - seen;
  drops.to = ring.drop_last.load(std::memory_order_relaxed);
  // A drop between the two loads keeps the time stamp of the previous interval: not later than the true
  // start.
  drops.from = std::clamp(ring.drop_first.load(std::memory_order_relaxed),
                          std::min(ring.drops_reported_to, drops.to), drops.to);
  ring.drops_reported_to = drops.to;
  ring.dropped_seen.store(dropped, std::memory_order_relaxed);
  return drops;
}

void reset(Ring& ring) {
  ring.in_use = 0;
  ring.track = 0;
  ring.drops_reported_to = 0;
  ring.tail_seen = 0 - ring.capacity / 2;
  for (auto* field : {&ring.head, &ring.tail, &ring.dropped, &ring.dropped_seen, &ring.drop_first,
                      &ring.drop_last, &ring.releases, &ring.taken})
    field->store(0, std::memory_order_relaxed);
  ring.released[0] = ring.released[1] = {};
  ring.depth = 0;
  ring.waiting = 0;
}

}  // namespace pitwall::profiler
