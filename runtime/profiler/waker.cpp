#include "runtime/profiler/waker.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace pitwall::profiler {

void Waker::wake() { syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0); }

bool Waker::sleep(std::chrono::steady_clock::time_point until) {
  using std::chrono::nanoseconds;
  while (word_.load(std::memory_order_relaxed) == 0) {
    const auto left =
        std::chrono::duration_cast<nanoseconds>(until - std::chrono::steady_clock::now()).count();
    if (left <= 0) break;
    const timespec time{left / 1'000'000'000, left % 1'000'000'000};
    syscall(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, 0, &time, nullptr, 0);
  }
  return take();
}

}  // namespace pitwall::profiler
