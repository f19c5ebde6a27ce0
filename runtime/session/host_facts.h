// Facts of the machine for the trace's meta table.
#pragma once

#include <map>
#include <string>

namespace pitwall::session {

// Keys of db/meta.h: host.*, process.usable_*, process.cgroup_cpus. What cannot be found out is absent.
std::map<std::string, std::string> hostFacts();

// Of the "key: value" file /proc/cpuinfo or /proc/meminfo; "" when absent.
std::string procField(const std::string& path, const std::string& key);

}  // namespace pitwall::session
