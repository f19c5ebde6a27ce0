// Facts of the machine for the trace's meta table.
#pragma once

#include <map>
#include <string>

namespace pitwall::session {

// Keys of db/meta.h: host.*, process.usable_*, process.cgroup_cpus. Unknown facts are absent.
std::map<std::string, std::string> hostFacts();

// The value of a key in /proc/cpuinfo or /proc/meminfo ("key: value" lines); "" when absent.
std::string procField(const std::string& path, const std::string& key);

}  // namespace pitwall::session
