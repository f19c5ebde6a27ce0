#include "runtime/ring_writer.h"

#include <time.h>

#include "runtime/profiler/waker.h"

namespace pitwall::profiler {

constinit thread_local CurrentRing t_current __attribute__((tls_model("initial-exec")));

namespace {

void drop(Ring& ring, Ticks time) {
  if (time == 0) time = readClock();
  const std::uint64_t dropped = ring.dropped.load(std::memory_order_relaxed);
  if (dropped == ring.dropped_seen.load(std::memory_order_relaxed))
    ring.drop_first.store(time, std::memory_order_relaxed);
  ring.drop_last.store(time, std::memory_order_relaxed);
  ring.dropped.store(dropped + 1, std::memory_order_release);
}

// Beyond half of its capacity the ring requests a drain; below it the writer returns here when the ring is
// half full.
bool fits(Ring& ring, std::uint64_t count) {
  const std::uint64_t half = ring.capacity / 2;
  const std::uint64_t tail = ring.tail.load(std::memory_order_acquire);
  const std::uint64_t used = ring.head.load(std::memory_order_relaxed) + count - tail;
  ring.tail_seen = used <= half ? tail - half : tail;
  if (used > half && ring.waker != 0) reinterpret_cast<Waker*>(ring.waker)->signal();
  return used <= ring.capacity;
}

ring::RingPolicy policyOf(const Ring& ring) {
  return static_cast<ring::RingPolicy>(ring.policy.load(std::memory_order_acquire));
}

}  // namespace

bool hasRoom(Ring& ring, std::uint64_t count) {
  if (fits(ring, count)) return true;
  if (policyOf(ring) != ring::RingPolicy::overwrite) return false;
  // As if the reader had read the oldest; the reader detects the missed records.
  ring.tail_seen = ring.head.load(std::memory_order_relaxed) + count - ring.capacity;
  return true;
}

bool makeRoom(Ring& ring, std::uint64_t count, Ticks time) {
  if (hasRoom(ring, count)) return true;
  if (policyOf(ring) == ring::RingPolicy::block && !t_current.must_not_block) {
    ring.waiting.store(1, std::memory_order_relaxed);
    // Ends when there is space, or with the recording, which changes the policy to drop.
    while (!fits(ring, count) && policyOf(ring) == ring::RingPolicy::block) {
      const timespec nap{0, 20'000};
      nanosleep(&nap, nullptr);
    }
    ring.waiting.store(0, std::memory_order_relaxed);
    if (fits(ring, count)) return true;
  }
  drop(ring, time);
  return false;
}

}  // namespace pitwall::profiler
