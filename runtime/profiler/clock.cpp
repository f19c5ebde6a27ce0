#include "runtime/profiler/clock.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace pitwall::profiler {

namespace {

bool cpuidReportsInvariantTsc() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kPowerLeaf = 0x80000007U;
  constexpr unsigned kInvariantBit = 1U << 8U;
  return __get_cpuid(kPowerLeaf, &a, &b, &c, &d) != 0 && (d & kInvariantBit) != 0;
#else
  return false;
#endif
}

}  // namespace

bool mayUseTsc(bool tsc_is_invariant, std::string_view kernel_clocks) {
  if (!tsc_is_invariant) return false;
  return kernel_clocks.empty() || kernel_clocks.find("tsc") != std::string_view::npos;
}

bool tscIsInvariant() {
  char clocks[256];
  const int file =
      ::open("/sys/devices/system/clocksource/clocksource0/available_clocksource", O_RDONLY | O_CLOEXEC);
  const ssize_t got = file < 0 ? 0 : ::read(file, clocks, sizeof clocks);
  if (file >= 0) ::close(file);
  return mayUseTsc(cpuidReportsInvariantTsc(),
                   std::string_view(clocks, got > 0 ? static_cast<std::size_t>(got) : 0));
}

Ticks monotonicNs() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<Ticks>(t.tv_sec) * 1'000'000'000U + static_cast<Ticks>(t.tv_nsec);
}

ring::ClockPair sampleClocks() {
  orderClock();  // after all that the caller has seen
  if (!clock_is_tsc) {
    const Ticks now = monotonicNs();
    return {now, static_cast<TimeNs>(now)};
  }
  // The narrowest of a few attempts: an interrupt between the two readings makes one wide.
  ring::ClockPair best;
  Ticks best_width = ~Ticks{0};
  for (int i = 0; i < 5; ++i) {
    const Ticks before = readClock();
    const Ticks ns = monotonicNs();
    const Ticks after = readClock();
    if (after - before < best_width) {
      best_width = after - before;
      best = {before + (after - before) / 2, static_cast<TimeNs>(ns)};
    }
  }
  return best;
}

}  // namespace pitwall::profiler
