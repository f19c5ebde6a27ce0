#include "runtime/session/cpu_limits.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <vector>

namespace pitwall::session {

namespace {

std::string firstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::optional<double> ratio(double quota, double period) {
  if (quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

// Version 2: "max 100000" or "150000 100000".
std::optional<double> quotaOfV2(const std::string& folder) {
  std::istringstream text(firstLine(folder + "/cpu.max"));
  double quota = 0, period = 0;
  if (!(text >> quota >> period)) return std::nullopt;  // "max" is not a number
  return ratio(quota, period);
}

std::optional<double> quotaOfV1(const std::string& folder) {
  std::istringstream quota_text(firstLine(folder + "/cpu.cfs_quota_us"));
  std::istringstream period_text(firstLine(folder + "/cpu.cfs_period_us"));
  double quota = 0, period = 0;
  if (!(quota_text >> quota) || !(period_text >> period)) return std::nullopt;
  return ratio(quota, period);  // -1 = no limit
}

// The lowest quota from `path` up to the mount's root. Inside a container the path may be that of the host,
// which is not visible: then only the root is used, which is the container's group.
template <class QuotaOf>
std::optional<double> tightest(const std::string& mount, std::string path, QuotaOf quota_of) {
  std::optional<double> least;
  for (;;) {
    while (!path.empty() && path.back() == '/') path.pop_back();
    const std::optional<double> quota = quota_of(mount + path);
    if (quota && (!least || *quota < *least)) least = quota;
    if (path.empty()) return least;
    path.erase(path.find_last_of('/') == std::string::npos ? 0 : path.find_last_of('/'));
  }
}

bool listsCpu(const std::string& controllers) {
  std::istringstream list(controllers);
  for (std::string one; std::getline(list, one, ',');) {
    if (one == "cpu") return true;
  }
  return false;
}

}  // namespace

std::optional<double> cgroupCpus(const std::string& root) {
  std::ifstream groups(root + "/proc/self/cgroup");
  const std::string mount = root + "/sys/fs/cgroup";
  std::optional<double> least;
  const auto consider = [&least](std::optional<double> quota) {
    if (quota && (!least || *quota < *least)) least = quota;
  };
  // Lines "hierarchy:controllers:path"; version 2 has hierarchy 0 and no controllers.
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      consider(tightest(mount, path, quotaOfV2));
      consider(tightest(mount + "/unified", path, quotaOfV2));
    } else if (listsCpu(controllers)) {
      for (const char* name : {"/cpu,cpuacct", "/cpu"}) consider(tightest(mount + name, path, quotaOfV1));
    }
  }
  return least;
}

int affinityCpus() {
  // The call fails with more CPUs than a fixed cpu_set_t holds: then retry with a larger one.
  for (int cpus = CPU_SETSIZE; cpus <= (1 << 20); cpus *= 2) {
    cpu_set_t* mask = CPU_ALLOC(cpus);
    const std::size_t bytes = CPU_ALLOC_SIZE(cpus);
    const bool known = sched_getaffinity(0, bytes, mask) == 0;
    const int count = known ? CPU_COUNT_S(bytes, mask) : 0;
    CPU_FREE(mask);
    if (known) return std::max(1, count);
  }
  return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

int usableCpus(int affinity, std::optional<double> quota) {
  if (!quota) return std::max(1, affinity);
  return std::max(1, std::min(affinity, static_cast<int>(std::ceil(*quota))));
}

}  // namespace pitwall::session
