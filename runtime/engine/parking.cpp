#include "runtime/engine/parking.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

#include "runtime/engine/spin.h"

namespace pitwall::engine {
namespace {

void wake(std::atomic<std::uint32_t>& word, int how_many) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, how_many, nullptr, nullptr, 0);
}

}  // namespace

void sleepWhile(std::atomic<std::uint32_t>& word, std::uint32_t expected) {
  static_assert(sizeof(word) == sizeof(std::uint32_t));
  // As condition variables wait: for tools, a plain FUTEX_WAIT while a word is 2 is a wait for a mutex of the C library.
  syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, expected, nullptr, nullptr, FUTEX_BITSET_MATCH_ANY);
}

void wakeAll(std::atomic<std::uint32_t>& word) { wake(word, INT_MAX); }

void ParkingSpot::wait(bool may_spin) {
  if (may_spin) {
    SpinBudget budget;
    while (state_.load(std::memory_order_acquire) != signalled && budget.spin()) {
    }
  }
  std::uint32_t expected = empty;
  // STATE CHANGE empty -> asleep; fails when signalled meanwhile
  if (state_.compare_exchange_strong(expected, asleep, std::memory_order_acquire)) {
    while (state_.load(std::memory_order_acquire) == asleep) sleepWhile(state_, asleep);
  }
  state_.store(empty, std::memory_order_relaxed);  // STATE CHANGE signalled -> empty
}

void ParkingSpot::signal() {
  if (state_.exchange(signalled, std::memory_order_acq_rel) == asleep) wake(state_, 1);
}

}  // namespace pitwall::engine
