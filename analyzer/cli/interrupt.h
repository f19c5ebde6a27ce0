// Ctrl-C as a request to cancel instead of an immediate end.
#pragma once

#include <atomic>
#include <csignal>

namespace pitwall::cli {

inline constexpr int kInterrupted = 130;  // exit code: 128 + SIGINT, as shells have it

// While it exists, ctrl-C and SIGTERM set flag() instead of ending the process; a second one ends it at once.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  static const std::atomic<bool>& flag();

 private:
  struct sigaction before_int_ {};
  struct sigaction before_term_ {};
};

}  // namespace pitwall::cli
