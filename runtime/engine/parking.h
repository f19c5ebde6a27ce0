// Lets one thread sleep until another one signals it.
#pragma once

#include <atomic>
#include <cstdint>

namespace pitwall::engine {

// Binary signal of one owner. The owner calls wait(); any other thread calls signal() once per wait. What
// happened before signal() happens before wait() returns. signal() does not touch the object after wait() can
// return, except by address.
class ParkingSpot {
 public:
  // Spins for a short while if `may_spin`, then sleeps, until signal() was called; then rearms.
  void wait(bool may_spin);
  void signal();

 private:
  enum State : std::uint32_t { empty, signalled, asleep };
  std::atomic<std::uint32_t> state_{empty};
};

// Sleeps while `word` is `expected`; may return early.
void sleepWhile(std::atomic<std::uint32_t>& word, std::uint32_t expected);
void wakeAll(std::atomic<std::uint32_t>& word);

}  // namespace pitwall::engine
