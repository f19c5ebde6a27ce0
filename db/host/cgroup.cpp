#include "db/cgroup.h"

#include <algorithm>
#include <functional>
#include <sstream>
#include <vector>

#include "db/proc_files.h"

namespace pitwall::host {
namespace {

// The folder of a group's files at one of the possible mount points of the hierarchy.
struct Group {
  std::string mount;
  std::string path;  // below it
  bool version2 = false;
};

bool lists(const std::string& controllers, const std::string& wanted) {
  std::istringstream list(controllers);
  for (std::string one; std::getline(list, one, ',');) {
    if (one == wanted) return true;
  }
  return false;
}

std::vector<Group> groupsOf(pid_t pid, const std::string& controller, const std::string& root) {
  std::istringstream lines(readFile(root + "/proc/" + std::to_string(pid) + "/cgroup").value_or(""));
  const std::string mount = root + "/sys/fs/cgroup";
  std::vector<Group> groups;
  // Lines "hierarchy:controllers:path"; version 2 has no controllers.
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      groups.push_back({mount, path, true});
      groups.push_back({mount + "/unified", path, true});
    } else if (lists(controllers, controller)) {
      groups.push_back({mount + "/" + controllers, path, false});
      groups.push_back({mount + "/" + controller, path, false});
    }
  }
  return groups;
}

// The lowest limit from each group up to its mount's root. Inside a container the path may be that of the
// host, which is not visible: then only the root is used, which is the container's group.
std::optional<double> tightest(
    const std::vector<Group>& groups,
    const std::function<std::optional<double>(const std::string&, bool)>& limit_of) {
  std::optional<double> least;
  for (const Group& group : groups) {
    for (std::string path = group.path;;) {
      while (!path.empty() && path.back() == '/') path.pop_back();
      const auto limit = limit_of(group.mount + path, group.version2);
      if (limit && *limit > 0 && (!least || *limit < *least)) least = limit;
      if (path.empty()) break;
      path.erase(path.find_last_of('/') == path.npos ? 0 : path.find_last_of('/'));
    }
  }
  return least;
}

std::optional<double> limitIn(const std::string& file) {
  std::istringstream text(readFile(file).value_or(""));
  double value = 0;
  if (text >> value) return value;  // "max" is not a number
  return std::nullopt;
}

std::optional<double> quotaOf(const std::string& folder, bool version2) {
  if (version2) {  // "max 100000" or "150000 100000"
    std::istringstream text(readFile(folder + "/cpu.max").value_or(""));
    double quota = 0, period = 0;
    if (text >> quota >> period && period > 0) return quota / period;
    return std::nullopt;
  }
  const auto quota = limitIn(folder + "/cpu.cfs_quota_us"), period = limitIn(folder + "/cpu.cfs_period_us");
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;  // -1 = no limit
  return *quota / *period;
}

}  // namespace

std::optional<double> cgroupCpus(pid_t pid, const std::string& root) {
  return tightest(groupsOf(pid, "cpu", root), quotaOf);
}

std::optional<Bytes> cgroupMemory(pid_t pid, const std::string& root) {
  const auto limit = tightest(groupsOf(pid, "memory", root), [](const std::string& folder, bool version2) {
    return limitIn(folder + (version2 ? "/memory.max" : "/memory.limit_in_bytes"));
  });
  // Version 1 writes "no limit" as the largest multiple of a page.
  if (!limit || *limit > 4e18) return std::nullopt;
  return static_cast<Bytes>(*limit);
}

std::string cgroupStatFile(pid_t pid, const std::string& root) {
  for (const Group& group : groupsOf(pid, "cpu", root)) {
    for (const std::string& path : {group.path, std::string()}) {
      const std::string file = group.mount + path + "/cpu.stat";
      if (throttledNs(file)) return file;
    }
  }
  return {};
}

std::optional<TimeNs> throttledNs(const std::string& stat_file) {
  std::istringstream text(readFile(stat_file).value_or(""));
  std::string key;
  for (TimeNs value = 0; text >> key >> value;) {
    if (key == "throttled_usec") return value * 1000;  // version 2
    if (key == "throttled_time") return value;         // version 1
  }
  return std::nullopt;
}

std::optional<std::int64_t> oomKills(const std::string& file) {
  std::istringstream text(readFile(file).value_or(""));
  std::string key;
  for (std::int64_t value = 0; text >> key >> value;) {
    if (key == "oom_kill") return value;
  }
  return std::nullopt;
}

std::string oomKillFile(pid_t pid, const std::string& root) {
  for (const Group& group : groupsOf(pid, "memory", root)) {
    for (const std::string& path : {group.path, std::string()}) {
      const std::string file =
          group.mount + path + (group.version2 ? "/memory.events" : "/memory.oom_control");
      if (oomKills(file)) return file;
    }
  }
  return {};
}

std::optional<std::int64_t> hostOomKills(const std::string& root) { return oomKills(root + "/proc/vmstat"); }

}  // namespace pitwall::host
