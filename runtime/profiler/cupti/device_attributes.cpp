#include "runtime/profiler/cupti/device_attributes.h"

#include <cupti.h>
#include <dlfcn.h>

#include <type_traits>

namespace pitwall::cupti {
namespace {

// The functions of the driver that the program has loaded.
struct Driver {
  decltype(&cuDeviceGet) get = nullptr;
  decltype(&cuDeviceGetAttribute) attribute = nullptr;
  decltype(&cuDeviceGetName) name = nullptr;
  decltype(&cuDeviceTotalMem) memory = nullptr;

  Driver() {
    void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) return;
    get = reinterpret_cast<decltype(get)>(dlsym(library, "cuDeviceGet"));
    attribute = reinterpret_cast<decltype(attribute)>(dlsym(library, "cuDeviceGetAttribute"));
    name = reinterpret_cast<decltype(name)>(dlsym(library, "cuDeviceGetName"));
    memory = reinterpret_cast<decltype(memory)>(dlsym(library, "cuDeviceTotalMem_v2"));
  }
  bool isThere() const {
    return get != nullptr && attribute != nullptr && name != nullptr && memory != nullptr;
  }
};

}  // namespace

void addAttributes(DeviceFacts& facts) {
  static const Driver driver;
  CUdevice device = 0;
  if (!driver.isThere() || driver.get(&device, static_cast<int>(facts.index)) != CUDA_SUCCESS) return;
  const auto read = [&](CUdevice_attribute attribute) {
    int value = 0;
    return driver.attribute(&value, attribute, device) == CUDA_SUCCESS && value > 0 ? value : 0;
  };
  const auto fill = [&](auto& fact, CUdevice_attribute attribute) {
    if (fact == 0) fact = static_cast<std::remove_reference_t<decltype(fact)>>(read(attribute));
  };
  char name[256] = {};
  if (facts.name.empty() && driver.name(name, sizeof name - 1, device) == CUDA_SUCCESS) facts.name = name;
  std::size_t bytes = 0;
  if (facts.memory_bytes == 0 && driver.memory(&bytes, device) == CUDA_SUCCESS)
    facts.memory_bytes = static_cast<Bytes>(bytes);
  MultiprocessorLimits& limits = facts.limits;
  fill(facts.multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  fill(limits.compute_major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  fill(limits.compute_minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  fill(limits.warp_size, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  fill(limits.blocks, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  fill(limits.registers, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  fill(limits.registers_per_block, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  fill(limits.shared_bytes, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  if (limits.warps == 0 && limits.warp_size > 0)
    limits.warps = read(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) / limits.warp_size;
}

}  // namespace pitwall::cupti
