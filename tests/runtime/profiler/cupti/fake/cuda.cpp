// A driver without a GPU: libcuda.so.1 for programs that test how a recording begins and ends. It loads the injection
// library in cuInit(), as the driver does.
#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>

#include "tests/runtime/profiler/cupti/fake/fake.h"

namespace {

using fake_cuda::Call;

void call(Call kind) {
  void* const cupti = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
  if (cupti == nullptr) return;
  if (const auto observe = reinterpret_cast<fake_cuda::Observe*>(dlsym(cupti, fake_cuda::kObserve)))
    observe(kind);
}

// What is left of CUDA is taken down by calls of the driver, when CUPTI has been finalised already.
void takeDown() { call(Call::takeDown); }

__attribute__((constructor)) void onLoad() { (void)std::atexit(takeDown); }

}  // namespace

extern "C" {

int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}

int cuInit(unsigned) {
  const char* const path = std::getenv("CUDA_INJECTION64_PATH");
  void* const library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW);
  if (library == nullptr) return 0;
  if (const auto begin = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"))) (void)begin();
  return 0;
}

void fakeLaunch() { call(Call::launch); }
}
