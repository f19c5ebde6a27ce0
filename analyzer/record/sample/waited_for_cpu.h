// CPU time of the children of this process.
#pragma once

#include <sys/resource.h>

#include "db/units.h"

namespace pitwall::record {

// Of all children that this process has waited for.
inline TimeNs waitedForCpuNs() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  const auto ns = [](const timeval& time) { return time.tv_sec * kSecondNs + time.tv_usec * 1000; };
  return ns(used.ru_utime) + ns(used.ru_stime);
}

}  // namespace pitwall::record
