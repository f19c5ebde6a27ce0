// CUPTI's functions that count in hardware, for tests: each call is logged, fails where asked to, and needs what the
// documentation says must have come before.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/profiler/cupti/counter_functions.h"

namespace pitwall::cupti::fake_counters {

struct Fake {
  std::string log;    // "enable config start stop decode ..."
  std::string fails;  // the name of a call in the log
  CUptiResult with = CUPTI_ERROR_UNKNOWN;
  CUpti_Profiler_Support_Level support = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  std::size_t metrics_of_one_pass = 4;
  std::set<std::string> unknown_metrics;
  std::size_t ranges = 1;  // of a launch
  double first_value = 37.5;
  std::size_t metrics = 0;  // of the configuration
  int enabled = 0, hosts = 0;
  bool started = false;
  std::function<void()> on_start, on_stop;
};
inline Fake* fake = nullptr;

inline CUptiResult call(const std::string& name) {
  fake->log += (fake->log.empty() ? "" : " ") + name;
  return fake->fails == name ? fake->with : CUPTI_SUCCESS;
}

inline void fakeHost(CounterFunctions& c) {
  c.hostInitialize = [](CUpti_Profiler_Host_Initialize_Params* p) {
    EXPECT_EQ(p->structSize, CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE);
    EXPECT_STREQ(p->pChipName, "GH100");
    p->pHostObject = reinterpret_cast<CUpti_Profiler_Host_Object*>(&fake->hosts);
    return ++fake->hosts, CUPTI_SUCCESS;
  };
  c.hostDeinitialize = [](CUpti_Profiler_Host_Deinitialize_Params*) { return --fake->hosts, CUPTI_SUCCESS; };
  c.addMetrics = [](CUpti_Profiler_Host_ConfigAddMetrics_Params* p) {
    fake->metrics = p->numMetrics;
    for (std::size_t i = 0; i < p->numMetrics; ++i)
      if (fake->unknown_metrics.count(p->ppMetricNames[i]) != 0) return CUPTI_ERROR_INVALID_METRIC_NAME;
    return CUPTI_SUCCESS;
  };
  c.configImageSize = [](CUpti_Profiler_Host_GetConfigImageSize_Params* p) {
    return p->configImageSize = fake->metrics, CUPTI_SUCCESS;
  };
  c.configImage = [](CUpti_Profiler_Host_GetConfigImage_Params* p) {
    return *p->pConfigImage = 1, CUPTI_SUCCESS;
  };
  c.numberOfPasses = [](CUpti_Profiler_Host_GetNumOfPasses_Params* p) {
    return p->numOfPasses = p->configImageSize > fake->metrics_of_one_pass ? 2 : 1, CUPTI_SUCCESS;
  };
  c.evaluate = [](CUpti_Profiler_Host_EvaluateToGpuValues_Params* p) {
    EXPECT_EQ(p->rangeIndex, 0U);
    for (std::size_t i = 0; i < p->numMetrics; ++i)
      p->pMetricValues[i] = fake->first_value + static_cast<double>(i);
    return call("evaluate");
  };
}

inline void fakeDevice(CounterFunctions& c) {
  c.initialize = [](CUpti_Profiler_Initialize_Params*) { return call("initialize"); };
  c.deviceSupported = [](CUpti_Profiler_DeviceSupported_Params* p) {
    EXPECT_EQ(p->api, CUPTI_PROFILER_RANGE_PROFILING);
    return p->isSupported = fake->support, call("supported");
  };
  c.chipName = [](CUpti_Device_GetChipName_Params* p) { return p->pChipName = "GH100", CUPTI_SUCCESS; };
  c.counterAvailability = [](CUpti_Profiler_GetCounterAvailability_Params* p) {
    EXPECT_EQ(fake->enabled, 0) << "it fails while a profiler is enabled";
    return p->counterAvailabilityImageSize = 16, CUPTI_SUCCESS;
  };
  c.enable = [](CUpti_RangeProfiler_Enable_Params* p) {
    p->pRangeProfilerObject = reinterpret_cast<CUpti_RangeProfiler_Object*>(&fake->enabled);
    const CUptiResult result = call("enable");
    fake->enabled += result == CUPTI_SUCCESS ? 1 : 0;
    return result;
  };
  c.disable = [](CUpti_RangeProfiler_Disable_Params*) {
    EXPECT_FALSE(fake->started);
    return --fake->enabled, call("disable");
  };
}

inline void fakeRanges(CounterFunctions& c) {
  c.counterDataSize = [](CUpti_RangeProfiler_GetCounterDataSize_Params* p) {
    EXPECT_GE(p->maxNumRangeTreeNodes, p->maxNumOfRanges);
    return p->counterDataSize = 32, CUPTI_SUCCESS;
  };
  c.initializeCounterData = [](CUpti_RangeProfiler_CounterDataImage_Initialize_Params* p) {
    EXPECT_EQ(p->counterDataSize, 32U);
    return call("data");
  };
  c.setConfig = [](CUpti_RangeProfiler_SetConfig_Params* p) {
    EXPECT_EQ(p->range, CUPTI_AutoRange);
    EXPECT_EQ(p->replayMode, CUPTI_KernelReplay);
    EXPECT_EQ(p->numNestingLevels, 1);
    EXPECT_EQ(p->configSize, fake->metrics);
    return call("config");
  };
  c.start = [](CUpti_RangeProfiler_Start_Params*) {
    const CUptiResult result = call("start");
    fake->started = result == CUPTI_SUCCESS;
    if (fake->on_start) fake->on_start();
    return result;
  };
  c.stop = [](CUpti_RangeProfiler_Stop_Params*) {
    if (fake->on_stop) std::exchange(fake->on_stop, nullptr)();
    return fake->started = false, call("stop");
  };
  c.decodeData = [](CUpti_RangeProfiler_DecodeData_Params*) { return call("decode"); };
  c.counterDataInfo = [](CUpti_RangeProfiler_GetCounterDataInfo_Params* p) {
    return p->numTotalRanges = fake->ranges, CUPTI_SUCCESS;
  };
}

inline CounterFunctions functions() {
  CounterFunctions c;
  fakeHost(c);
  fakeDevice(c);
  fakeRanges(c);
  return c;
}

}  // namespace pitwall::cupti::fake_counters
