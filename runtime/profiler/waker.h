// Wakes the drain thread when a ring is half full, so that it sleeps from one flush to the next and not from
// one look at the rings to another. The recorded thread makes a system call once in half a ring.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace pitwall::profiler {

class Waker {
 public:
  // Any thread. Costs a load while the sleeper has not taken the signal before.
  void signal() {
    if (word_.load(std::memory_order_relaxed) == 0 && word_.exchange(1, std::memory_order_release) == 0)
      wake();
  }

  // The sleeper: until signalled or `until` at the latest. Takes the signal; true: there was one.
  bool sleep(std::chrono::steady_clock::time_point until);
  bool take() { return word_.exchange(0, std::memory_order_acquire) != 0; }

 private:
  void wake();

  std::atomic<std::uint32_t> word_{0};  // 1: signalled. A futex
};

}  // namespace pitwall::profiler
