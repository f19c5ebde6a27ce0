// Limits and throttling of a process by its control groups. Versions 1 and 2.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "db/units.h"

namespace pitwall::host {

// The CPU quota of the control groups of `pid` in CPUs, the lowest of its group and those above it; nullopt =
// no limit. `root` is "/" except in tests.
std::optional<double> cgroupCpus(pid_t pid, const std::string& root = "/");

// The file cpu.stat of the group of `pid`; "" when there is none. Threads of a group that has used up its
// quota are throttled: cpu.stat counts that time.
std::string cgroupStatFile(pid_t pid, const std::string& root = "/");
std::optional<TimeNs> throttledNs(const std::string& stat_file);

// The memory limit of the groups of `pid`; nullopt = no limit.
std::optional<Bytes> cgroupMemory(pid_t pid, const std::string& root = "/");

// Number of processes that the kernel has killed for lack of memory so far: the file that counts them in the
// group of `pid` ("" when there is none), its count, and that of the whole machine. nullopt = unknown.
std::string oomKillFile(pid_t pid, const std::string& root = "/");
std::optional<std::int64_t> oomKills(const std::string& file);
std::optional<std::int64_t> hostOomKills(const std::string& root = "/");

}  // namespace pitwall::host
