// What the GPUs do, recorded by CUPTI from the first operator on a GPU on. Where there is no GPU nothing
// happens and nothing is said.
//
// Under `pitwall record` the driver loads our injection library when CUDA starts. The library then leaves the
// GPUs to us, who know which operator a launch belongs to, unless CUDA had started before the session.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "runtime/profiler.h"
#include "runtime/profiler/inject/gpu_claim.h"

namespace pitwall::session {

class GpuRecording {
 public:
  // `wanted`: PITWALL_RECORD_GPU. `into_trace`: the session has been asked for a trace. Before the session
  // uses CUDA.
  GpuRecording(Profiler& profiler, bool wanted, bool into_trace);
  ~GpuRecording() { end(); }
  GpuRecording(const GpuRecording&) = delete;
  GpuRecording& operator=(const GpuRecording&) = delete;

  // Before an operator of a GPU runs, while the profiler records. Any thread. What stands in the way of
  // recording is a note of the trace.
  void onGpuOperator();

  // Before the recording ends: hands over what is outstanding.
  void end();

 private:
  static void onCudaStart(void* self);
  void begin();
  void writeObstacle();

  Profiler& profiler_;
  const bool wanted_;
  bool injected_ = false;                   // the injection library is asked for; constant after construction
  inject::ClaimFunction* claim_ = nullptr;  // of the library that has left the GPUs to us
  std::once_flag once_;
  std::string obstacle_;  // why nothing is recorded; set once
  std::atomic<bool> attached_{false};
};

}  // namespace pitwall::session
