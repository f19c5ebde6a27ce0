// Records GPU activity by CUPTI, starting with the first operator on a GPU. Without a GPU it does nothing and
// prints nothing.
//
// Under `pitwall record` the driver loads the injection library when CUDA starts. The library then leaves the
// GPUs to the session, which knows the operator of each launch, unless CUDA had started before the session.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>

#include "runtime/profiler.h"
#include "runtime/profiler/cupti/collector.h"
#include "runtime/profiler/inject/gpu_claim.h"

namespace pitwall::session {

class GpuRecording {
 public:
  // `extent`: PITWALL_RECORD_GPU; none = not recorded. `into_trace`: the session records a trace. Before the session uses CUDA.
  GpuRecording(Profiler& profiler, std::optional<cupti::Extent> extent, bool into_trace);
  ~GpuRecording() { end(); }
  GpuRecording(const GpuRecording&) = delete;
  GpuRecording& operator=(const GpuRecording&) = delete;

  // Called before an operator of a GPU runs, while the profiler records. Any thread. A reason why recording
  // is impossible becomes a note in the trace.
  void onGpuOperator();

  // Called before the recording ends: delivers pending records.
  void end();

 private:
  static void onCudaStart(void* self);
  void begin();
  void writeProblem();

  Profiler& profiler_;
  const std::optional<cupti::Extent> extent_;
  bool injected_ = false;                   // the injection library is requested; constant after construction
  inject::ClaimFunction* claim_ = nullptr;  // of the library that has left the GPUs to the session
  std::once_flag once_;
  std::string problem_;  // why nothing is recorded; set once
  std::atomic<bool> attached_{false};
};

}  // namespace pitwall::session
