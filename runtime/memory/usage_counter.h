// Live and peak bytes, exact under any number of threads.
#pragma once

#include <atomic>

#include "runtime/memory.h"

namespace pitwall::memory {

class UsageCounter {
 public:
  void add(Bytes size) {
    const Bytes live = live_.fetch_add(size, std::memory_order_relaxed) + size;
    blocks_.fetch_add(1, std::memory_order_relaxed);
    Bytes peak = peak_.load(std::memory_order_relaxed);
    while (live > peak && !peak_.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
    }
  }
  void remove(Bytes size) {
    live_.fetch_sub(size, std::memory_order_relaxed);
    blocks_.fetch_sub(1, std::memory_order_relaxed);
  }
  Storage::Usage read() const {
    return {live_.load(std::memory_order_relaxed), peak_.load(std::memory_order_relaxed),
            blocks_.load(std::memory_order_relaxed)};
  }

 private:
  std::atomic<Bytes> live_{0};
  std::atomic<Bytes> peak_{0};
  std::atomic<std::int64_t> blocks_{0};
};

}  // namespace pitwall::memory
