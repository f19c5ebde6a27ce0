#include "runtime/session/openmp.h"

#include <link.h>
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "db/cgroup.h"
#include "db/usable_cpus.h"

namespace pitwall::session {

namespace {

constexpr std::array<std::string_view, 3> kRuntimes = {"libgomp", "libomp", "libiomp5"};
using Found = std::array<bool, kRuntimes.size()>;

int note(dl_phdr_info* info, std::size_t, void* data) {
  const std::string_view name = openMpRuntimeOf(info->dlpi_name != nullptr ? info->dlpi_name : "");
  for (std::size_t i = 0; i < kRuntimes.size(); ++i) {
    if (kRuntimes[i] == name) (*static_cast<Found*>(data))[i] = true;
  }
  return 0;
}

}  // namespace

std::string_view openMpRuntimeOf(std::string_view library_path) {
  const std::string_view file = library_path.substr(library_path.find_last_of('/') + 1);
  for (const std::string_view runtime : kRuntimes) {
    // "libomp.so.5", "libomp-14.so", "libgomp-a34b3233.so.1" (the name in Python wheels)
    if (!file.starts_with(runtime) || file.find(".so") == std::string_view::npos) continue;
    const char next = file[runtime.size()];
    if (next == '.' || next == '-') return runtime;
  }
  return "";
}

std::string loadedOpenMpRuntimes() {
  Found found{};
  dl_iterate_phdr(note, &found);
  std::string names;
  for (std::size_t i = 0; i < kRuntimes.size(); ++i) {
    if (!found[i]) continue;
    if (!names.empty()) names += '+';
    names += kRuntimes[i];
  }
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
