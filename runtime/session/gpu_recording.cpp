#include "runtime/session/gpu_recording.h"

#include <cstdlib>
#include <string_view>

#include "db/meta.h"
#include "runtime/devices.h"
#include "runtime/profiler/cupti/collector.h"

namespace pitwall::session {

namespace {

// Then the driver loads our injection library, which records the GPUs itself.
bool isInjected() {
  const char* const path = std::getenv("CUDA_INJECTION64_PATH");
  const std::string_view text(path == nullptr ? "" : path);
  return text.substr(text.find_last_of('/') + 1) == "libpitwall_inject.so";
}

}  // namespace

void GpuRecording::onGpuOperator() {
  if (wanted_) std::call_once(once_, [this] { begin(); });
}

void GpuRecording::begin() {
  if (isInjected()) return;
  if (const auto gpus = gpuDevices(); !gpus.has_value() || gpus->empty()) return;
  if (const Status status = cupti::attach(profiler_); !status.has_value()) {
    profiler_.withSink([&](TraceSink& sink) { sink.meta(meta::kRecorderNotes, status.error().message); });
    return;
  }
  attached_ = true;
}

void GpuRecording::end() {
  if (attached_.exchange(false)) cupti::detach();
}

}  // namespace pitwall::session
