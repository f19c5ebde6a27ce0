// OpenMP as this process has it: which runtime libraries are loaded and how many threads a worker's parallel
// region gets.
#pragma once

#include <string>
#include <string_view>

#include "db/settings.h"

namespace pitwall::session {

// "libgomp", "libomp", "libiomp5", joined by '+' when several are loaded; "none".
std::string loadedOpenMpRuntimes();

// The name of the OpenMP runtime whose library file this is ("/usr/lib/libgomp.so.1" -> "libgomp"); "" when
// it is none.
std::string_view openMpRuntimeOf(std::string_view library_path);

// Threads of a worker's parallel region: what OMP_NUM_THREADS says, else the CPUs this process may use; never
// more than MXNET_OMP_MAX_THREADS.
int workerOpenMpThreads(const Settings& settings);

// Gives the calling thread's parallel regions that many.
void setOpenMpThreads(int threads);

}  // namespace pitwall::session
