#include "runtime/profiler/torch/abi.h"

#include <dlfcn.h>
#include <link.h>

#include <string_view>

namespace pitwall::torch_abi {
namespace {

// The path of the loaded library whose file name begins with `name`; empty when there is none.
std::string loadedLibrary(const char* name) {
  struct Search {
    std::string_view name;
    std::string path;
  } search{name, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& wanted = *static_cast<Search*>(data);
        const std::string_view path = info->dlpi_name;
        const std::size_t slash = path.rfind('/');
        if (!path.substr(slash == path.npos ? 0 : slash + 1).starts_with(wanted.name)) return 0;
        wanted.path = path;
        return 1;
      },
      &search);
  return search.path;
}

template <class Function>
void look(void* library, const char* symbol, Function*& function) {
  if (library != nullptr) function = reinterpret_cast<Function*>(dlsym(library, symbol));
}

// The handle is kept: the library stays loaded as long as its callbacks refer to this one.
void* handleOf(const char* name) {
  const std::string path = loadedLibrary(name);
  return path.empty() ? nullptr : dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
}

}  // namespace

Functions find() {
  Functions found;
  void* const torch = handleOf("libtorch_cpu.so");
  look(torch, "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE", found.add_global_callback);
  look(torch, "_ZNK2at14RecordFunction4nameEv", found.name);
  look(torch, "_ZN5torch8profiler4impl10inputSizesERKN2at14RecordFunctionEb", found.input_sizes);
  look(torch, "_ZN5torch8profiler4impl10inputTypesB5cxx11ERKN2at14RecordFunctionE", found.input_types);
  look(handleOf("libc10.so"), "_ZN3c108GradMode10is_enabledEv", found.gradients_enabled);
  return found;
}

}  // namespace pitwall::torch_abi
