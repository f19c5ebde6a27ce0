// What must not be disturbed while a stream is captured into a graph.
#pragma once

#include <cupti.h>

namespace pitwall::cupti {

// Whether the call of launchCalls() puts its kernel into a graph, or may do so.
bool isCaptured(CUpti_CallbackId call, const void* arguments);

// While it lives, the thread's calls of the driver leave captures of other threads alone. No effect without a driver.
class OutsideCaptures {
 public:
  OutsideCaptures();
  ~OutsideCaptures();
  OutsideCaptures(const OutsideCaptures&) = delete;
  OutsideCaptures& operator=(const OutsideCaptures&) = delete;

 private:
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
  bool is_changed_ = false;
};

}  // namespace pitwall::cupti
