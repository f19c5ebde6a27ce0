// Functions of the driver that the program has loaded.
#pragma once

#include <dlfcn.h>

namespace pitwall::cupti {

// nullptr where no driver is loaded, or it lacks the function.
template <class Function>
Function driverFunction(const char* name) {
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  return driver == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(driver, name));
}

}  // namespace pitwall::cupti
