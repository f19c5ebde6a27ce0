// How processes, threads and devices are called in reports and on timelines.
#pragma once

#include <string>
#include <vector>

#include "db/reader.h"

namespace pitwall {

std::string deviceTitle(const DeviceInfo& device);  // "gpu 0"

// "python (123)"; "rank 2: python (123)" in a trace of several ranks.
std::string processTitle(const ProcessInfo& process, bool several_ranks);

// By ThreadId.value - 1. Where several threads of a process have the same name, with their numbers; "thread 123" without one.
std::vector<std::string> threadTitles(const Trace& trace);

}  // namespace pitwall
