// Short, bounded busy waiting, before the engine makes a system call to sleep or wake.
#pragma once

#include <atomic>
#include <cstdint>

#include "db/mutex.h"

namespace pitwall::engine {

// The processor's hint for spin loops.
inline void pauseCpu() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Whether busy waiting can help at all: false on a machine with one processor.
bool spinningHelps();

// Limits spinning to a few microseconds of elapsed time, independent of the duration of the pause
// instruction.
class SpinBudget {
 public:
  static constexpr std::int64_t kNanoseconds = 5000;
  // Pauses once; false when the budget is spent.
  bool spin() {
    pauseCpu();
    return ++turns_ % kTurnsPerLook != 0 || timeLeft();
  }

 private:
  static constexpr std::uint32_t kTurnsPerLook = 32;
  bool timeLeft();
  std::uint32_t turns_ = 0;
  std::int64_t end_ns_ = 0;
};

// Guards a few instructions. Spins, then yields to the thread that may hold it. unlock() publishes (release)
// to the next lock() (acquire).
class PITWALL_CAPABILITY("spin lock") SpinLock {
 public:
  void lock() PITWALL_ACQUIRE() {
    if (locked_.exchange(true, std::memory_order_acquire)) [[unlikely]]
      lockSlowly();
  }
  void unlock() PITWALL_RELEASE() { locked_.store(false, std::memory_order_release); }

 private:
  void lockSlowly();
  std::atomic<bool> locked_{false};
};

}  // namespace pitwall::engine
