// A ring's memory, and the reader's side of it. The layout is db/ring_format.h; the writer's side
// runtime/ring_writer.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/profiler/ring_file.h"
#include "runtime/profiler/waker.h"
#include "runtime/ring_writer.h"

namespace pitwall::profiler {

// Maps a ring with every page touched, in `file` when given and it has space, else in anonymous memory.
// nullptr when the system has no memory. `waker` (nullptr = none) is signalled when the ring is half full,
// and must outlive it.
Ring* createRing(std::uint64_t records, RingFile* file, Waker* waker);
void destroyRing(Ring* ring);

// Moves the ring into `file` (nullptr: anonymous memory, whose pages are touched when `touch`) at the same
// address with its state; records are dropped. Only while nothing is recorded; a late write of a thread is
// harmless. False when it is not moved.
bool moveRing(Ring* ring, RingFile* file, bool touch);

inline const Record* recordsOf(const Ring& ring) {
  return reinterpret_cast<const Record*>(reinterpret_cast<const char*>(&ring) + ring::kPage);
}

// Frees space; the trace has `events` of this ring's track up to `tail`.
void release(Ring& ring, std::uint64_t tail, std::uint64_t events);

inline bool halfFull(const Ring& ring) {
  return ring.head.load(std::memory_order_relaxed) - ring.tail.load(std::memory_order_relaxed) >=
             ring.capacity / 2 ||
         ring.waiting.load(std::memory_order_relaxed) != 0;
}

struct Drops {
  std::uint64_t count = 0;  // since the last call
  Ticks from = 0, to = 0;
};
Drops takeDrops(Ring& ring);

// Clears the ring; only while no thread writes.
void reset(Ring& ring);

}  // namespace pitwall::profiler
