// What the GPUs do, recorded by CUPTI from the first operator on a GPU on. Where there is no GPU nothing
// happens and nothing is said.
#pragma once

#include <mutex>

#include "runtime/profiler.h"

namespace pitwall::session {

class GpuRecording {
 public:
  // `wanted`: PITWALL_RECORD_GPU.
  GpuRecording(Profiler& profiler, bool wanted) : profiler_(profiler), wanted_(wanted) {}

  // Before an operator of a GPU runs, while the profiler records. Any thread. What stands in the way of
  // recording is a note of the trace.
  void onGpuOperator();

  // Before the recording ends: hands over what is outstanding.
  void end();

 private:
  void begin();

  Profiler& profiler_;
  const bool wanted_;
  std::once_flag once_;
  std::atomic<bool> attached_{false};
};

}  // namespace pitwall::session
