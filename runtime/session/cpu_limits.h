// How many CPUs this process may use: affinity mask and cgroup quota.
#pragma once

#include <optional>
#include <string>

namespace pitwall::session {

// The CPU quota of the control groups in CPUs, the lowest of the process's group and those above it; nullopt
// = no limit. Versions 1 and 2. `root` is "/" except in tests.
std::optional<double> cgroupCpus(const std::string& root = "/");

// CPUs in the calling thread's affinity mask.
int affinityCpus();

// The minimum of both, at least 1. A quota of 1.5 counts as 2, since one thread could not use it up.
int usableCpus(int affinity, std::optional<double> quota);

}  // namespace pitwall::session
