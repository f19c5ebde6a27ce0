#include "runtime/profiler/cupti/context_counters.h"

namespace pitwall::cupti {

namespace {

// More than the one expected, so that kernels of other threads are noticed.
constexpr std::size_t kMostRanges = 8;

}  // namespace

CUptiResult ContextCounters::open() {
  auto init = sized<CUpti_Profiler_Initialize_Params>(CUpti_Profiler_Initialize_Params_STRUCT_SIZE);
  if (const CUptiResult result = cupti_.initialize(&init); result != CUPTI_SUCCESS) return result;
  auto support =
      sized<CUpti_Profiler_DeviceSupported_Params>(CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE);
  support.cuDevice = static_cast<CUdevice>(device_);
  support.api = CUPTI_PROFILER_RANGE_PROFILING;
  if (const CUptiResult result = cupti_.deviceSupported(&support); result != CUPTI_SUCCESS) return result;
  if (support.isSupported != CUPTI_PROFILER_CONFIGURATION_SUPPORTED) return CUPTI_ERROR_NOT_SUPPORTED;
  if (const CUptiResult result = chooseCounters(); result != CUPTI_SUCCESS) return result;
  auto enable = sized<CUpti_RangeProfiler_Enable_Params>(CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE);
  enable.ctx = context_;
  if (const CUptiResult result = cupti_.enable(&enable); result != CUPTI_SUCCESS) return result;
  profiler_ = enable.pRangeProfilerObject;
  const CUptiResult result = configure();
  if (result != CUPTI_SUCCESS) close();
  return result;
}

CUptiResult ContextCounters::chooseCounters() {
  auto chip = sized<CUpti_Device_GetChipName_Params>(CUpti_Device_GetChipName_Params_STRUCT_SIZE);
  chip.deviceIndex = device_;
  if (const CUptiResult result = cupti_.chipName(&chip); result != CUPTI_SUCCESS) return result;
  std::vector<std::uint8_t> availability;
  if (const CUptiResult result = readAvailability(availability); result != CUPTI_SUCCESS) return result;
  return choice_.choose(chip.pChipName, availability);
}

CUptiResult ContextCounters::readAvailability(std::vector<std::uint8_t>& image) {
  auto params = sized<CUpti_Profiler_GetCounterAvailability_Params>(
      CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE);
  params.ctx = context_;
  if (const CUptiResult result = cupti_.counterAvailability(&params); result != CUPTI_SUCCESS) return result;
  image.assign(params.counterAvailabilityImageSize, 0);
  params.pCounterAvailabilityImage = image.data();
  return cupti_.counterAvailability(&params);
}

CUptiResult ContextCounters::configure() {
  const auto chosen = choice_.names();
  std::vector<const char*> names(chosen.begin(), chosen.end());
  auto size = sized<CUpti_RangeProfiler_GetCounterDataSize_Params>(
      CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE);
  size.pRangeProfilerObject = profiler_;
  size.pMetricNames = names.data();
  size.numMetrics = names.size();
  size.maxNumOfRanges = kMostRanges;
  size.maxNumRangeTreeNodes = kMostRanges;
  if (const CUptiResult result = cupti_.counterDataSize(&size); result != CUPTI_SUCCESS) return result;
  data_.assign(size.counterDataSize, 0);
  if (const CUptiResult result = initializeData(); result != CUPTI_SUCCESS) return result;
  auto config = sized<CUpti_RangeProfiler_SetConfig_Params>(CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE);
  config.pRangeProfilerObject = profiler_;
  config.configSize = choice_.configImage().size();
  config.pConfig = choice_.configImage().data();
  config.counterDataImageSize = data_.size();
  config.pCounterDataImage = data_.data();
  config.range = CUPTI_AutoRange;
  config.replayMode = CUPTI_KernelReplay;
  config.maxRangesPerPass = kMostRanges;
  config.numNestingLevels = 1;
  config.minNestingLevel = 1;
  config.passIndex = 0;
  config.targetNestingLevel = 1;
  return cupti_.setConfig(&config);
}

CUptiResult ContextCounters::initializeData() {
  auto params = sized<CUpti_RangeProfiler_CounterDataImage_Initialize_Params>(
      CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE);
  params.pRangeProfilerObject = profiler_;
  params.counterDataSize = data_.size();
  params.pCounterData = data_.data();
  return cupti_.initializeCounterData(&params);
}

CUptiResult ContextCounters::start() {
  auto params = sized<CUpti_RangeProfiler_Start_Params>(CUpti_RangeProfiler_Start_Params_STRUCT_SIZE);
  params.pRangeProfilerObject = profiler_;
  return cupti_.start(&params);
}

CUptiResult ContextCounters::stop(std::size_t& ranges, std::vector<double>& values) {
  auto stop = sized<CUpti_RangeProfiler_Stop_Params>(CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE);
  stop.pRangeProfilerObject = profiler_;
  if (const CUptiResult result = cupti_.stop(&stop); result != CUPTI_SUCCESS) return result;
  auto decode =
      sized<CUpti_RangeProfiler_DecodeData_Params>(CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE);
  decode.pRangeProfilerObject = profiler_;
  if (const CUptiResult result = cupti_.decodeData(&decode); result != CUPTI_SUCCESS) return result;
  auto info = sized<CUpti_RangeProfiler_GetCounterDataInfo_Params>(
      CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE);
  info.pCounterDataImage = data_.data();
  info.counterDataImageSize = data_.size();
  if (const CUptiResult result = cupti_.counterDataInfo(&info); result != CUPTI_SUCCESS) return result;
  ranges = info.numTotalRanges + decode.numOfRangeDropped;
  if (info.numTotalRanges > 0) {
    if (const CUptiResult result = choice_.evaluate(data_, 0, values); result != CUPTI_SUCCESS) return result;
  }
  return initializeData();
}

void ContextCounters::close() {
  if (profiler_ == nullptr) return;
  auto params = sized<CUpti_RangeProfiler_Disable_Params>(CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE);
  params.pRangeProfilerObject = profiler_;
  (void)cupti_.disable(&params);
  profiler_ = nullptr;
}

}  // namespace pitwall::cupti
