#include "runtime/profiler/cupti/counter_functions.h"

#include <dlfcn.h>

#include <type_traits>

namespace pitwall::cupti {

bool loadCounterFunctions(void* library, CounterFunctions& into) {
  bool is_complete = true;
  const auto load = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    is_complete = is_complete && function != nullptr;
  };
  load("cuptiProfilerHostInitialize", into.hostInitialize);
  load("cuptiProfilerHostDeinitialize", into.hostDeinitialize);
  load("cuptiProfilerHostConfigAddMetrics", into.addMetrics);
  load("cuptiProfilerHostGetConfigImageSize", into.configImageSize);
  load("cuptiProfilerHostGetConfigImage", into.configImage);
  load("cuptiProfilerHostGetNumOfPasses", into.numberOfPasses);
  load("cuptiProfilerHostEvaluateToGpuValues", into.evaluate);
  load("cuptiProfilerInitialize", into.initialize);
  load("cuptiProfilerDeviceSupported", into.deviceSupported);
  load("cuptiDeviceGetChipName", into.chipName);
  load("cuptiProfilerGetCounterAvailability", into.counterAvailability);
  load("cuptiRangeProfilerEnable", into.enable);
  load("cuptiRangeProfilerDisable", into.disable);
  load("cuptiRangeProfilerGetCounterDataSize", into.counterDataSize);
  load("cuptiRangeProfilerCounterDataImageInitialize", into.initializeCounterData);
  load("cuptiRangeProfilerSetConfig", into.setConfig);
  load("cuptiRangeProfilerStart", into.start);
  load("cuptiRangeProfilerStop", into.stop);
  load("cuptiRangeProfilerDecodeData", into.decodeData);
  load("cuptiRangeProfilerGetCounterDataInfo", into.counterDataInfo);
  return is_complete;
}

}  // namespace pitwall::cupti
