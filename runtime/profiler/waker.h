// Wakes the drain thread when a ring is half full, so that it sleeps until the next flush instead of polling
// the rings. The recorded thread makes one system call per half ring.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace pitwall::profiler {

class Waker {
 public:
  // Any thread. Costs only a load while an earlier signal is pending.
  void signal() {
    if (word_.load(std::memory_order_relaxed) == 0 && word_.exchange(1, std::memory_order_release) == 0)
      wake();
  }

  // The sleeper waits until signalled, or until `until`. Consumes the signal; true: there was one.
  bool sleep(std::chrono::steady_clock::time_point until);
  bool take() { return word_.exchange(0, std::memory_order_acquire) != 0; }

 private:
  void wake();

  std::atomic<std::uint32_t> word_{0};  // 1: signalled. A futex
};

}  // namespace pitwall::profiler
