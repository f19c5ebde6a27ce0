// Facts of the machine for the trace's meta table, from /proc and /sys. `root` is "/" except in tests.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace pitwall::host {

// Keys of db/meta.h: host.*. Unknown facts are absent.
std::map<std::string, std::string> hostFacts(const std::string& root = "/");

// Number of physical cores of these CPUs; 0 when unknown.
int coresOf(const std::vector<int>& cpus, const std::string& root = "/");

}  // namespace pitwall::host
