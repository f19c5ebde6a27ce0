// OpenMP in this process: the loaded runtime libraries and the number of threads of a worker's parallel
// region.
#pragma once

#include <string>

#include "db/settings.h"

namespace pitwall::session {

// "libgomp", "libomp", "libiomp5", joined by '+' when several are loaded; "none".
std::string loadedOpenMpRuntimes();

// Threads of a worker's parallel region: OMP_NUM_THREADS, else the CPUs this process may use; never more than
// MXNET_OMP_MAX_THREADS.
int workerOpenMpThreads(const Settings& settings);

// Sets the number of threads of the calling thread's parallel regions.
void setOpenMpThreads(int threads);

}  // namespace pitwall::session
