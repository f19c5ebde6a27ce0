// Facts of the machine, and its load, from /proc and /sys. `root` is "/" but in tests.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "db/units.h"

namespace pitwall::record {

// Keys of db/meta.h: host.*. What cannot be found out is absent.
std::map<std::string, std::string> hostFacts(const std::string& root = "/");

// Physical cores that these CPUs belong to; 0 when the kernel does not tell.
int coresOf(const std::vector<int>& cpus, const std::string& root = "/");

struct HostLoad {               // since boot, of all CPUs together
  TimeNs busy_ns = 0;           // in any program or in the kernel
  TimeNs steal_ns = 0;          // taken by the machine below this virtual one
  std::optional<int> runnable;  // threads that run or could run now, the one that asks included
};
std::optional<HostLoad> hostLoad(const std::string& root = "/");

// For how long some thread of the machine has waited for "cpu" or "io", since boot; nothing where the kernel
// does not count it.
std::optional<TimeNs> pressureNs(const std::string& resource, const std::string& root = "/");

}  // namespace pitwall::record
