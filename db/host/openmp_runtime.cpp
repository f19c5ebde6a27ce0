#include "db/openmp_runtime.h"

namespace pitwall::host {
namespace {

constexpr std::array<std::string_view, 3> kRuntimes = {"libgomp", "libomp", "libiomp5"};

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

void OpenMpRuntimes::add(std::string_view library_path) {
  const std::string_view name = openMpRuntimeOf(library_path);
  for (std::size_t i = 0; i < kRuntimes.size(); ++i) found_[i] = found_[i] || kRuntimes[i] == name;
}

std::string OpenMpRuntimes::names() const {
  std::string names;
  for (std::size_t i = 0; i < kRuntimes.size(); ++i) {
    if (found_[i]) names += (names.empty() ? "" : "+") + std::string(kRuntimes[i]);
  }
  return names;
}

}  // namespace pitwall::host
