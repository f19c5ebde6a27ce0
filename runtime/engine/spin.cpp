#include "runtime/engine/spin.h"

#include <sched.h>
#include <time.h>

#include <thread>

namespace pitwall::engine {
namespace {

std::int64_t nowNs() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

bool spinningHelps() {
  static const bool kHelps = std::thread::hardware_concurrency() != 1;
  return kHelps;
}

bool SpinBudget::timeLeft() {
  if (!spinningHelps()) return false;
  const std::int64_t now_ns = nowNs();
  if (end_ns_ == 0) end_ns_ = now_ns + kNanoseconds;
  return now_ns < end_ns_;
}

void SpinLock::lockSlowly() {
  constexpr int kTriesBeforeYield = 128;  // longer than any holder needs, unless it was descheduled
  for (;;) {
    for (int i = 0; i < kTriesBeforeYield; ++i) {
      if (!locked_.load(std::memory_order_relaxed) && !locked_.exchange(true, std::memory_order_acquire))
        return;
      pauseCpu();
    }
    sched_yield();
  }
}

}  // namespace pitwall::engine
