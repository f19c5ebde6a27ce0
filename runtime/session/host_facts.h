// Facts of the machine and of what this process may use of it, for the trace's meta table.
#pragma once

#include <map>
#include <string>

namespace pitwall::session {

// Keys of db/meta.h: host.*, process.usable_*, process.cgroup_cpus. Unknown facts are absent.
std::map<std::string, std::string> hostFacts();

}  // namespace pitwall::session
