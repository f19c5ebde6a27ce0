// The trace's clock: CLOCK_MONOTONIC since the recording began, which every process of the machine shares.
#pragma once

#include <time.h>

#include "db/units.h"

namespace pitwall::record {

inline constexpr TimeNs kSecondNs = 1'000'000'000;

inline TimeNs readClock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return TimeNs{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

struct TraceClock {
  TimeNs start_monotonic_ns = readClock(CLOCK_MONOTONIC);
  TimeNs start_unix_ns = readClock(CLOCK_REALTIME);
  TimeNs now() const { return readClock(CLOCK_MONOTONIC) - start_monotonic_ns; }
};

}  // namespace pitwall::record
