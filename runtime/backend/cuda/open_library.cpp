#include "runtime/backend/cuda/open_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

namespace pitwall::cuda {

Result<void*> openLibrary(const std::string& name) {
  if (void* const loaded = dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD)) return loaded;
  std::vector<std::string> folders = {""};
  if (const char* const home = std::getenv("CUDA_HOME")) folders.push_back(std::string(home) + "/lib64/");
  folders.emplace_back("/usr/local/cuda/lib64/");
  std::string problem;
  for (const std::string& folder : folders) {
    if (void* const found = dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL)) return found;
    if (problem.empty()) problem = dlerror();
  }
  return fail(ErrorCode::notFound, fmt::format("{} cannot be opened: {}", name, problem));
}

Result<void*> functionOf(void* library, const std::string& library_name, const char* function) {
  if (void* const found = dlsym(library, function)) return found;
  return fail(ErrorCode::unsupported, fmt::format("{} has no {}", library_name, function));
}

}  // namespace pitwall::cuda
