// A driver without a GPU: libcuda.so.1 for programs that test how a recording begins and ends. It loads the injection
// library in cuInit(), as the driver does.
#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "tests/runtime/profiler/cupti/fake/fake.h"

namespace {

using fake_cuda::Call;

void call(Call kind) {
  void* const cupti = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
  if (cupti == nullptr) return;
  if (const auto observe = reinterpret_cast<fake_cuda::Observe*>(dlsym(cupti, fake_cuda::kObserve)))
    observe(kind);
}

bool g_captures = false;

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
  if (library != nullptr) {
    if (const auto begin = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"))) (void)begin();
  }
  call(Call::initialised);
  return 0;
}

int cuDeviceGet(int* device, int ordinal) { return *device = ordinal, 0; }

int cuDeviceGetName(char* name, int size, int) {
  std::strncpy(name, "fake GPU", static_cast<std::size_t>(size));
  return 0;
}

int cuDeviceTotalMem_v2(std::size_t* bytes, int) { return *bytes = std::size_t{8} << 30, 0; }

// A multiprocessor like that of an H100.
int cuDeviceGetAttribute(int* value, int attribute, int) {
  const auto of = [](int which) {
    switch (which) {
      case 10: return 32;      // CU_DEVICE_ATTRIBUTE_WARP_SIZE
      case 12: return 65536;   // MAX_REGISTERS_PER_BLOCK
      case 16: return 132;     // MULTIPROCESSOR_COUNT
      case 39: return 2048;    // MAX_THREADS_PER_MULTIPROCESSOR
      case 75: return 9;       // COMPUTE_CAPABILITY_MAJOR
      case 81: return 233472;  // MAX_SHARED_MEMORY_PER_MULTIPROCESSOR
      case 82: return 65536;   // MAX_REGISTERS_PER_MULTIPROCESSOR
      case 106: return 32;     // MAX_BLOCKS_PER_MULTIPROCESSOR
      default: return 0;
    }
  };
  return *value = of(attribute), 0;
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void*, int, std::size_t) {
  return *blocks = 4, 0;
}

int cuStreamIsCapturing(void*, int* status) { return *status = g_captures ? 1 : 0, 0; }

void fakeLaunch() { call(Call::launch); }
void fakeCapture() { g_captures = true; }
void fakeMigrate() { call(Call::migrate); }
void fakePrefetch() { call(Call::prefetch); }
}
