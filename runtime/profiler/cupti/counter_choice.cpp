#include "runtime/profiler/cupti/counter_choice.h"

#include <iterator>

namespace pitwall::cupti {

namespace {

// By importance: each choice is one of fewer.
constexpr const char* kWanted[] = {
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "dram__bytes.sum.pct_of_peak_sustained_elapsed",
    "sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
};

}  // namespace

CounterChoice::~CounterChoice() { close(); }

void CounterChoice::close() {
  if (host_ == nullptr) return;
  auto params =
      sized<CUpti_Profiler_Host_Deinitialize_Params>(CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE);
  params.pHostObject = host_;
  (void)cupti_.hostDeinitialize(&params);
  host_ = nullptr;
}

CUptiResult CounterChoice::configure(const std::string& chip, std::span<const std::uint8_t> availability,
                                     bool& is_one_pass) {
  auto init = sized<CUpti_Profiler_Host_Initialize_Params>(CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE);
  init.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  init.pChipName = chip.c_str();
  init.pCounterAvailabilityImage = availability.empty() ? nullptr : availability.data();
  CUptiResult result = cupti_.hostInitialize(&init);
  if (result != CUPTI_SUCCESS) return result;
  host_ = init.pHostObject;
  auto add = sized<CUpti_Profiler_Host_ConfigAddMetrics_Params>(
      CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE);
  add.pHostObject = host_;
  add.ppMetricNames = names_.data();
  add.numMetrics = names_.size();
  if (result = cupti_.addMetrics(&add); result != CUPTI_SUCCESS) return result;
  auto size = sized<CUpti_Profiler_Host_GetConfigImageSize_Params>(
      CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE);
  size.pHostObject = host_;
  if (result = cupti_.configImageSize(&size); result != CUPTI_SUCCESS) return result;
  image_.assign(size.configImageSize, 0);
  auto image =
      sized<CUpti_Profiler_Host_GetConfigImage_Params>(CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE);
  image.pHostObject = host_;
  image.configImageSize = image_.size();
  image.pConfigImage = image_.data();
  if (result = cupti_.configImage(&image); result != CUPTI_SUCCESS) return result;
  auto passes =
      sized<CUpti_Profiler_Host_GetNumOfPasses_Params>(CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE);
  passes.configImageSize = image_.size();
  passes.pConfigImage = image_.data();
  result = cupti_.numberOfPasses(&passes);
  is_one_pass = passes.numOfPasses == 1;
  return result;
}

CUptiResult CounterChoice::choose(const std::string& chip, std::span<const std::uint8_t> availability) {
  CUptiResult result = CUPTI_ERROR_UNKNOWN;
  for (names_.assign(std::begin(kWanted), std::end(kWanted)); !names_.empty(); names_.pop_back()) {
    bool is_one_pass = false;
    result = configure(chip, availability, is_one_pass);
    if (result == CUPTI_SUCCESS && is_one_pass) return CUPTI_SUCCESS;
    close();
  }
  return result == CUPTI_SUCCESS ? CUPTI_ERROR_NOT_SUPPORTED : result;
}

CUptiResult CounterChoice::evaluate(std::span<const std::uint8_t> counter_data, std::size_t range,
                                    std::vector<double>& values) const {
  values.assign(names_.size(), 0);
  std::vector<const char*> names = names_;
  auto params = sized<CUpti_Profiler_Host_EvaluateToGpuValues_Params>(
      CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE);
  params.pHostObject = host_;
  params.pCounterDataImage = counter_data.data();
  params.counterDataImageSize = counter_data.size();
  params.rangeIndex = range;
  params.ppMetricNames = names.data();
  params.numMetrics = names.size();
  params.pMetricValues = values.data();
  return cupti_.evaluate(&params);
}

}  // namespace pitwall::cupti
