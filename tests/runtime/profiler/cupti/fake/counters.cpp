// The part of the fake CUPTI that counts in hardware: every kernel has the same values. With FAKE_CUPTI_COUNTERS=forbidden
// the driver does not permit it.
#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <stdio.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tests/runtime/profiler/cupti/fake/fake.h"

namespace {

bool g_counts = false;
int g_object = 0;

template <class Object>
Object* object() {
  return reinterpret_cast<Object*>(&g_object);
}

}  // namespace

extern "C" {

CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* p) {
  return p->pHostObject = object<CUpti_Profiler_Host_Object>(), CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params*) { return CUPTI_SUCCESS; }
CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params*) {
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params* p) {
  return p->configImageSize = 8, CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params*) {
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params* p) {
  return p->numOfPasses = 1, CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params* p) {
  for (std::size_t i = 0; i < p->numMetrics; ++i) p->pMetricValues[i] = 40;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params*) { return CUPTI_SUCCESS; }
CUptiResult cuptiProfilerDeviceSupported(CUpti_Profiler_DeviceSupported_Params* p) {
  return p->isSupported = CUPTI_PROFILER_CONFIGURATION_SUPPORTED, CUPTI_SUCCESS;
}
CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* p) {
  return p->pChipName = "FAKE", CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params* p) {
  return p->counterAvailabilityImageSize = 8, CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* p) {
  const char* const mode = std::getenv("FAKE_CUPTI_COUNTERS");
  if (mode != nullptr && std::string_view(mode) == "forbidden") return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  if (fake_cuda::recordsKernels()) {
    (void)fprintf(stderr, "fake CUPTI: kernels are recorded and counted at the same time\n");
    std::abort();
  }
  return p->pRangeProfilerObject = object<CUpti_RangeProfiler_Object>(), CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params*) { return CUPTI_SUCCESS; }
CUptiResult cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params* p) {
  return p->counterDataSize = 8, CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerCounterDataImageInitialize(
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params*) {
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params*) { return CUPTI_SUCCESS; }
CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params*) {
  return g_counts = true, CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params*) {
  return g_counts = false, CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params*) {
  return g_counts ? CUPTI_ERROR_INVALID_OPERATION : CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params* p) {
  return p->numTotalRanges = 1, CUPTI_SUCCESS;
}
}
