// The functions of CUPTI that count in hardware. Tests supply their own, as for Library.
#pragma once

#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <cstddef>

namespace pitwall::cupti {

struct CounterFunctions {
  // The choice of counters, which needs no driver.
  decltype(&cuptiProfilerHostInitialize) hostInitialize = nullptr;
  decltype(&cuptiProfilerHostDeinitialize) hostDeinitialize = nullptr;
  decltype(&cuptiProfilerHostConfigAddMetrics) addMetrics = nullptr;
  decltype(&cuptiProfilerHostGetConfigImageSize) configImageSize = nullptr;
  decltype(&cuptiProfilerHostGetConfigImage) configImage = nullptr;
  decltype(&cuptiProfilerHostGetNumOfPasses) numberOfPasses = nullptr;
  decltype(&cuptiProfilerHostEvaluateToGpuValues) evaluate = nullptr;
  // Of a device and a context.
  decltype(&cuptiProfilerInitialize) initialize = nullptr;
  decltype(&cuptiProfilerDeviceSupported) deviceSupported = nullptr;
  decltype(&cuptiDeviceGetChipName) chipName = nullptr;
  decltype(&cuptiProfilerGetCounterAvailability) counterAvailability = nullptr;
  decltype(&cuptiRangeProfilerEnable) enable = nullptr;
  decltype(&cuptiRangeProfilerDisable) disable = nullptr;
  decltype(&cuptiRangeProfilerGetCounterDataSize) counterDataSize = nullptr;
  decltype(&cuptiRangeProfilerCounterDataImageInitialize) initializeCounterData = nullptr;
  decltype(&cuptiRangeProfilerSetConfig) setConfig = nullptr;
  decltype(&cuptiRangeProfilerStart) start = nullptr;
  decltype(&cuptiRangeProfilerStop) stop = nullptr;
  decltype(&cuptiRangeProfilerDecodeData) decodeData = nullptr;
  decltype(&cuptiRangeProfilerGetCounterDataInfo) counterDataInfo = nullptr;
};

// Parameters of a function: zeroed, with their size.
template <class Params>
Params sized(std::size_t size) {
  Params params{};
  params.structSize = size;
  return params;
}

// From an open library; false where one is missing.
bool loadCounterFunctions(void* library, CounterFunctions& into);

}  // namespace pitwall::cupti
