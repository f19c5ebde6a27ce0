// The load of the machine, from /proc. `root` is "/" except in tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "db/units.h"

namespace pitwall::record {

struct HostLoad {               // since boot, of all CPUs together
  TimeNs busy_ns = 0;           // in any program or in the kernel
  TimeNs steal_ns = 0;          // taken by the host of this virtual machine
  std::optional<int> runnable;  // running or runnable threads, including the calling one
};
std::optional<HostLoad> hostLoad(const std::string& root = "/");

// Time since boot in which some thread of the machine has waited for "cpu" or "io"; nullopt where the kernel
// does not count it.
std::optional<TimeNs> pressureNs(const std::string& resource, const std::string& root = "/");

// Page faults since boot, of all programs, that were given a huge page; nullopt where the kernel has none.
std::optional<std::int64_t> hugePageFaults(const std::string& root = "/");

}  // namespace pitwall::record
