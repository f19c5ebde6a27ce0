// What the control groups allow a process and how often they made it wait. Versions 1 and 2.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "db/units.h"

namespace pitwall::record {

// CPUs worth of time that the control groups of `pid` allow, the tightest of its group and those above it;
// nothing = no limit. `root` is "/" but in tests.
std::optional<double> cgroupCpus(pid_t pid, const std::string& root = "/");

// The file cpu.stat of the group of `pid`; "" when there is none. Threads of a group that has used up its
// quota stand still: cpu.stat counts for how long.
std::string cgroupStatFile(pid_t pid, const std::string& root = "/");
std::optional<TimeNs> throttledNs(const std::string& stat_file);

// The limit on memory that the groups of `pid` set; nothing = no limit.
std::optional<Bytes> cgroupMemory(pid_t pid, const std::string& root = "/");

// How many processes the kernel has killed for lack of memory so far: the file that counts them in the group
// of `pid` ("" when there is none), its count, and that of the whole machine. Nothing = the kernel does not
// tell.
std::string oomKillFile(pid_t pid, const std::string& root = "/");
std::optional<std::int64_t> oomKills(const std::string& file);
std::optional<std::int64_t> hostOomKills(const std::string& root = "/");

}  // namespace pitwall::record
