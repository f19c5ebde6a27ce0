#include "runtime/profiler/cupti/stream_capture.h"

#include "runtime/profiler/cupti/loaded_driver.h"

namespace pitwall::cupti {

namespace {

using IsCapturing = decltype(&cuStreamIsCapturing);
using ExchangeMode = decltype(&cuThreadExchangeStreamCaptureMode);

bool isCapturing(IsCapturing ask, CUstream stream) {
  if (ask == nullptr) return false;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  // An error: the legacy stream while another is captured, which must not be touched either.
  return ask(stream, &status) != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE;
}

// With the default stream of the thread.
bool isCapturingOfThread(CUstream stream) {
  static const auto kAsk = driverFunction<IsCapturing>("cuStreamIsCapturing_ptsz");
  return isCapturing(kAsk, stream);
}

bool isCapturingOfProcess(CUstream stream) {
  static const auto kAsk = driverFunction<IsCapturing>("cuStreamIsCapturing");
  return isCapturing(kAsk, stream);
}

template <class Arguments>
CUstream streamOf(const void* arguments) {
  return static_cast<const Arguments*>(arguments)->hStream;
}

template <class Arguments>
CUstream configuredStreamOf(const void* arguments) {
  const auto& of = *static_cast<const Arguments*>(arguments);
  return of.config == nullptr ? nullptr : of.config->hStream;
}

ExchangeMode exchangeMode() {
  static const auto kExchange = driverFunction<ExchangeMode>("cuThreadExchangeStreamCaptureMode");
  return kExchange;
}

}  // namespace

bool isCaptured(CUpti_CallbackId call, const void* arguments) {
  if (arguments == nullptr) return false;
  switch (call) {
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
      return isCapturingOfProcess(streamOf<cuLaunchKernel_params>(arguments));
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz:
      return isCapturingOfThread(streamOf<cuLaunchKernel_ptsz_params>(arguments));
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx:
      return isCapturingOfProcess(configuredStreamOf<cuLaunchKernelEx_params>(arguments));
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz:
      return isCapturingOfThread(configuredStreamOf<cuLaunchKernelEx_ptsz_params>(arguments));
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel:
      return isCapturingOfProcess(streamOf<cuLaunchCooperativeKernel_params>(arguments));
    case CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz:
      return isCapturingOfThread(streamOf<cuLaunchCooperativeKernel_ptsz_params>(arguments));
    default: return false;
  }
}

OutsideCaptures::OutsideCaptures() {
  const ExchangeMode exchange = exchangeMode();
  is_changed_ = exchange != nullptr && exchange(&mode_) == CUDA_SUCCESS;
}

OutsideCaptures::~OutsideCaptures() {
  if (is_changed_) (void)exchangeMode()(&mode_);
}

}  // namespace pitwall::cupti
