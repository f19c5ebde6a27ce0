// Names of trace files for programs of several processes.
#pragma once

#include <cstdint>
#include <string>

namespace pitwall {

// %p becomes the process id, %r the rank, %% a percent sign; any other % stays.
std::string expandTracePath(const std::string& path_template, std::int64_t pid, int rank);

// The path itself when there is no such file; else, with ".pitwall" last, NAME-2.pitwall, NAME-3.pitwall, ...
std::string freeTracePath(const std::string& path);

}  // namespace pitwall
