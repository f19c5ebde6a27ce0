// Parses the files of /proc for one process or thread. Each reader returns nullopt when the file does not
// exist (the process ended), is not readable (another user's) or is malformed.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/units.h"

namespace pitwall::record {

struct StatLine {    // /proc/PID/stat, of a process or a thread
  std::string name;  // the kernel's name, 15 characters at most
  char state = '?';  // R, S, D, Z, T, ...
  pid_t parent = 0;
  std::int64_t minor_faults = 0;
  std::int64_t major_faults = 0;
  std::int64_t threads = 0;
  std::int64_t start_ticks = 0;  // since boot; identifies a process together with the pid
  std::int64_t resident_pages = 0;
  std::uint64_t image = 0;          // of addresses of the program; changes with exec; 0 = unknown
  int cpu = 0;                      // last used
  std::int64_t kernel_ticks = 0;    // CPU time within the kernel, of all its threads
  std::int64_t children_ticks = 0;  // CPU time of the children that it has waited for
};
std::optional<StatLine> parseStat(std::string_view text);

struct SchedStat {              // /proc/PID/task/TID/schedstat
  TimeNs run_ns = 0;            // on a CPU
  TimeNs wait_ns = 0;           // runnable, waiting for a CPU
  std::int64_t timeslices = 0;  // times it was put on a CPU
};
std::optional<SchedStat> parseSchedStat(std::string_view text);

// Arguments or variables separated by NUL, as in /proc/PID/cmdline and /proc/PID/environ.
std::vector<std::string> splitNul(std::string_view text);

// OpenMP runtimes among the libraries of /proc/PID/maps: "libgomp", "libomp", "libiomp5"; several joined by
// '+', in that order; "" = none.
std::string openMpRuntimesOf(std::string_view maps);

// The BLAS library among them: "mkl", "openblas", "blis", "atlas", "reference"; the first of several; "" =
// none.
std::string blasOf(std::string_view maps);

// Pages on each NUMA node, summed over /proc/PID/numa_maps ("N0=12 N1=3"); index = node.
std::vector<std::int64_t> numaPages(std::string_view numa_maps);

}  // namespace pitwall::record
