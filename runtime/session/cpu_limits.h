// How many CPUs this process may use: affinity mask and cgroup quota.
#pragma once

#include <optional>
#include <string>

namespace pitwall::session {

// CPUs worth of time that the control groups allow, the tightest of the process's group and those above it;
// nothing = no limit. Versions 1 and 2. `root` is "/" but in tests.
std::optional<double> cgroupCpus(const std::string& root = "/");

// CPUs in the calling thread's affinity mask.
int affinityCpus();

// What both leave: at least 1. A quota of 1.5 counts as 2, as one thread could not use it up.
int usableCpus(int affinity, std::optional<double> quota);

}  // namespace pitwall::session
