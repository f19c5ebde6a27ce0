#include "runtime/session/openmp.h"

#include <link.h>
#include <omp.h>
#include <unistd.h>

#include <algorithm>

#include "db/cgroup.h"
#include "db/openmp_runtime.h"
#include "db/usable_cpus.h"

namespace pitwall::session {

namespace {

int note(dl_phdr_info* info, std::size_t, void* data) {
  static_cast<host::OpenMpRuntimes*>(data)->add(info->dlpi_name != nullptr ? info->dlpi_name : "");
  return 0;
}

}  // namespace

std::string loadedOpenMpRuntimes() {
  host::OpenMpRuntimes loaded;
  dl_iterate_phdr(note, &loaded);
  const std::string names = loaded.names();
  return names.empty() ? "none" : names;
}

int workerOpenMpThreads(const Settings& settings) {
  int threads = omp_get_max_threads();
  if (!settings.isSet("OMP_NUM_THREADS"))
    threads = std::min(threads, host::usableCpus(host::affinityCpus().size(), host::cgroupCpus(getpid())));
  if (settings.isSet("MXNET_OMP_MAX_THREADS")) {
    threads = static_cast<int>(std::min<std::int64_t>(threads, settings.integer("MXNET_OMP_MAX_THREADS")));
  }
  return std::max(1, std::min(threads, omp_get_thread_limit()));
}

void setOpenMpThreads(int threads) {
  if (omp_get_max_threads() != threads) omp_set_num_threads(threads);
}

}  // namespace pitwall::session
