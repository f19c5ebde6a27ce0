#include "runtime/profiler/cupti/launch_call.h"

#include <cstddef>

#include "runtime/profiler/cupti/loaded_driver.h"

namespace pitwall::cupti {

namespace {

constexpr CUpti_CallbackId kLaunches[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
};

// The driver takes kernels of a library for functions here.
int residentBlocks(CUfunction function, const LaunchFacts& facts) {
  using Occupancy = decltype(&cuOccupancyMaxActiveBlocksPerMultiprocessor);
  static const auto ask = driverFunction<Occupancy>("cuOccupancyMaxActiveBlocksPerMultiprocessor");
  int blocks = 0;
  const int threads = facts.block[0] * facts.block[1] * facts.block[2];
  const bool is_known =
      ask != nullptr &&
      ask(&blocks, function, threads, static_cast<std::size_t>(facts.dynamic_shared_bytes)) == CUDA_SUCCESS;
  return is_known ? blocks : 0;
}

// The members that both kinds of arguments have.
template <class Arguments>
LaunchFacts factsOf(const Arguments& arguments, CUfunction function) {
  LaunchFacts facts;
  facts.grid = {static_cast<std::int32_t>(arguments.gridDimX), static_cast<std::int32_t>(arguments.gridDimY),
                static_cast<std::int32_t>(arguments.gridDimZ)};
  facts.block = {static_cast<std::int32_t>(arguments.blockDimX),
                 static_cast<std::int32_t>(arguments.blockDimY),
                 static_cast<std::int32_t>(arguments.blockDimZ)};
  facts.dynamic_shared_bytes = arguments.sharedMemBytes;
  facts.resident_blocks = residentBlocks(function, facts);
  return facts;
}

template <class Arguments>
LaunchFacts factsOf(const void* arguments) {
  const auto& of = *static_cast<const Arguments*>(arguments);
  return factsOf(of, of.f);
}

template <class Arguments>
LaunchFacts configuredFactsOf(const void* arguments) {
  const auto& of = *static_cast<const Arguments*>(arguments);
  return of.config == nullptr ? LaunchFacts{} : factsOf(*of.config, of.f);
}

}  // namespace

std::span<const CUpti_CallbackId> launchCalls() { return kLaunches; }

LaunchFacts launchFactsOf(CUpti_CallbackId call, const void* arguments) {
  if (arguments == nullptr) return {};
  switch (call) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel: return factsOf<cuLaunchKernel_params>(arguments);
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz: return factsOf<cuLaunchKernel_ptsz_params>(arguments);
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
      return configuredFactsOf<cuLaunchKernelEx_params>(arguments);
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
      return configuredFactsOf<cuLaunchKernelEx_ptsz_params>(arguments);
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
      return factsOf<cuLaunchCooperativeKernel_params>(arguments);
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
      return factsOf<cuLaunchCooperativeKernel_ptsz_params>(arguments);
    default: return {};
  }
}

}  // namespace pitwall::cupti
