// The driver's functions that tests on a GPU call, loaded by hand so that nothing is linked.
#pragma once

#include <cuda.h>
#include <dlfcn.h>

#include <string>

namespace pitwall::test {

template <class F>
bool loadFunction(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

struct GpuDriver {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  decltype(&cuInit) init = nullptr;
  decltype(&cuDeviceGetCount) count = nullptr;
  decltype(&cuDevicePrimaryCtxRetain) retain = nullptr;
  decltype(&cuCtxSetCurrent) setCurrent = nullptr;
  decltype(&cuModuleLoadData) loadModule = nullptr;
  decltype(&cuModuleGetFunction) getFunction = nullptr;
  decltype(&cuMemAlloc) alloc = nullptr;
  decltype(&cuMemAllocManaged) allocManaged = nullptr;
  decltype(&cuMemcpyHtoDAsync) copy = nullptr;
  decltype(&cuLaunchKernel) launch = nullptr;
  decltype(&cuCtxSynchronize) synchronize = nullptr;

  // The reason why no GPU is available for tests; "" when there is one. Loads the functions.
  std::string missing() {
    const bool loaded = library != nullptr && loadFunction(library, "cuInit", init) &&
                        loadFunction(library, "cuDeviceGetCount", count) &&
                        loadFunction(library, "cuDevicePrimaryCtxRetain", retain) &&
                        loadFunction(library, "cuCtxSetCurrent", setCurrent) &&
                        loadFunction(library, "cuModuleLoadData", loadModule) &&
                        loadFunction(library, "cuModuleGetFunction", getFunction) &&
                        loadFunction(library, "cuMemAlloc_v2", alloc) &&
                        loadFunction(library, "cuMemAllocManaged", allocManaged) &&
                        loadFunction(library, "cuMemcpyHtoDAsync_v2", copy) &&
                        loadFunction(library, "cuLaunchKernel", launch) &&
                        loadFunction(library, "cuCtxSynchronize", synchronize);
    if (!loaded) return "no NVIDIA driver";
    int devices = 0;
    return init(0) != CUDA_SUCCESS || count(&devices) != CUDA_SUCCESS || devices == 0 ? "no GPU" : "";
  }

  // The first GPU's primary context becomes the calling thread's.
  bool useFirst() {
    CUcontext context = nullptr;
    return retain(&context, 0) == CUDA_SUCCESS && setCurrent(context) == CUDA_SUCCESS;
  }
};

}  // namespace pitwall::test
