// The writing side of a thread's ring: the few instructions of every record, inline. Used through
// runtime/profiler.h and runtime/record_macros.h.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "db/ring_format.h"

namespace pitwall {

// A point on the recorder's clock: TSC ticks where invariant, else CLOCK_MONOTONIC ns. Converted when
// drained. Never 0.
using Ticks = std::uint64_t;

namespace profiler {

using ring::Record;
using ring::RecordKind;
using Ring = ring::RingHeader;

bool tscIsInvariant();
Ticks monotonicNs();
inline bool clock_is_tsc = tscIsInvariant();

inline Ticks readClock() {
#if defined(__x86_64__)
  if (clock_is_tsc) [[likely]]
    return __rdtsc();
#endif
  return monotonicNs();
}

// Readings after it are not before what precedes it in the program, such as another thread's event that it has waited
// for: the processor may read the time stamp counter ahead of an atomic operation that is not finished. The system's
// clock orders itself.
inline void orderClock() {
#if defined(__x86_64__)
  _mm_lfence();
#endif
}

// The calling thread's cached ring in profiler `owner`. Trivial and in static TLS, so that access needs
// neither guard nor call.
struct CurrentRing {
  std::uint64_t owner = 0;
  Ring* ring = nullptr;
  std::uint16_t depth = 0;      // announced scopes that are open
  bool ended = false;           // the thread's locals are being destroyed: record no more
  bool must_not_block = false;  // it holds a lock that the drain needs
};
extern constinit thread_local CurrentRing t_current __attribute__((tls_model("initial-exec")));

// Called when `count` records do not fit; false: dropped and counted.
bool makeRoom(Ring& ring, std::uint64_t count, Ticks time);

// Whether `count` records fit, by dropping the oldest where the ring is overwritten. Counts no loss.
bool hasRoom(Ring& ring, std::uint64_t count);

// Ensures space for `count` records, or returns false after counting one loss at `time` (0 = now).
inline bool reserve(Ring& ring, std::uint64_t count, Ticks time) {
  if (ring.head.load(std::memory_order_relaxed) + count - ring.tail_seen <= ring.capacity) [[likely]]
    return true;
  return makeRoom(ring, count, time);
}

inline Record& slot(Ring& ring, std::uint64_t ahead) {
  auto* const records = reinterpret_cast<Record*>(reinterpret_cast<char*>(&ring) + ring::kPage);
  return records[(ring.head.load(std::memory_order_relaxed) + ahead) & (ring.capacity - 1)];
}

inline void publish(Ring& ring, std::uint64_t count) {
  // The hardware prefetcher stops at the end of a page; the next record would miss there.
  __builtin_prefetch(&slot(ring, count + 64), 1);
  ring.head.store(ring.head.load(std::memory_order_relaxed) + count, std::memory_order_release);
}

// Sixteen bytes by one store. A scope costs no time only as long as the processor can buffer all of its
// stores, about twelve.
inline void storePair(void* to, std::uint64_t first, std::uint64_t second) {
  using Pair __attribute__((vector_size(16), may_alias)) = std::uint64_t;
  *static_cast<Pair*>(to) = Pair{first, second};
}

static_assert(offsetof(Ring, scopes) % 16 == 0);

inline void write(Record& to, const Record& record) {
  static_assert(std::endian::native == std::endian::little && offsetof(Record, id) == 24);
  static_assert(offsetof(Record, kind) == 28 && offsetof(Record, detail) == 29 &&
                offsetof(Record, depth) == 30);
  const std::uint64_t last = std::uint64_t{record.id} | static_cast<std::uint64_t>(record.kind) << 32U |
                             std::uint64_t{record.detail} << 40U | std::uint64_t{record.depth} << 48U;
  storePair(&to.a, record.a, record.b);
  storePair(&to.c, record.c, last);
}

inline void put(Ring* ring, const Record& record) {
  if (ring == nullptr || !reserve(*ring, 1, record.a + record.b)) return;
  write(slot(*ring, 0), record);
  publish(*ring, 1);
}

// Opens a scope of the calling thread: written into the mapping, so that the file of a killed program has it.
// `ring` may be nullptr.
inline void open(Ring* ring, std::uint32_t site, Ticks started) {
  const std::uint16_t depth = t_current.depth++;
  if (ring == nullptr) return;
  storePair(&ring->scopes[depth % Ring::kScopes], started, site);
  ring->depth.store(depth + 1U, std::memory_order_release);
}

}  // namespace profiler
}  // namespace pitwall
