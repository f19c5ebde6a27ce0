#include "db/usable_cpus.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <numeric>

namespace pitwall::host {

std::vector<int> affinityCpus(pid_t pid) {
  std::vector<int> numbers;
  // The call fails with more CPUs than the mask holds: then retry with a larger one.
  for (int cpus = CPU_SETSIZE; cpus <= (1 << 20); cpus *= 2) {
    cpu_set_t* mask = CPU_ALLOC(cpus);
    const std::size_t bytes = CPU_ALLOC_SIZE(cpus);
    const bool known = sched_getaffinity(pid, bytes, mask) == 0;
    for (int cpu = 0; known && cpu < cpus; ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, mask)) numbers.push_back(cpu);
    }
    CPU_FREE(mask);
    if (known || errno != EINVAL) break;
  }
  if (numbers.empty() && pid == 0) {
    numbers.resize(static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN))));
    std::iota(numbers.begin(), numbers.end(), 0);
  }
  return numbers;
}

int usableCpus(std::size_t affinity, std::optional<double> quota) {
  const int mask = std::max(1, static_cast<int>(affinity));
  return quota ? std::max(1, std::min(mask, static_cast<int>(std::ceil(*quota)))) : mask;
}

}  // namespace pitwall::host
