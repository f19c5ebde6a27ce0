// How many CPUs a process may use: affinity mask and quota.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <vector>

namespace pitwall::host {

// The numbers of the CPUs in the affinity mask of a process or thread (0 = the calling thread), ascending. Where the
// kernel does not report it: empty; of the calling thread all that are online.
std::vector<int> affinityCpus(pid_t pid = 0);

// The minimum of the mask and the quota (db/cgroup.h), at least 1. A quota of 1.5 counts as 2, since one thread
// cannot use it up.
int usableCpus(std::size_t affinity, std::optional<double> quota);

}  // namespace pitwall::host
