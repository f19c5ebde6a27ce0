#include "runtime/session/gpu_recording.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string_view>

#include "db/meta.h"
#include "runtime/devices.h"

namespace pitwall::session {

namespace {

// The library that the driver loads when CUDA starts, if it is Pitwall's.
const char* injectionLibrary() {
  const char* const path = std::getenv("CUDA_INJECTION64_PATH");
  const std::string_view text(path == nullptr ? "" : path);
  return text.substr(text.find_last_of('/') + 1) == "libpitwall_inject.so" ? path : nullptr;
}

inject::ClaimFunction* claimFunctionOf(const char* library) {
  void* const loaded = dlopen(library, RTLD_LAZY);  // the library that the driver will load
  if (loaded == nullptr) return nullptr;
  return reinterpret_cast<inject::ClaimFunction*>(dlsym(loaded, inject::kClaimFunction));
}

}  // namespace

GpuRecording::GpuRecording(Profiler& profiler, std::optional<cupti::Extent> extent, bool into_trace)
    : profiler_(profiler), extent_(extent) {
  const char* const library = injectionLibrary();
  injected_ = library != nullptr;
  // Without its own trace the session could not store them.
  if (!extent_ || !injected_ || !into_trace) return;
  inject::ClaimFunction* const claim = claimFunctionOf(library);
  if (claim != nullptr && claim(&GpuRecording::onCudaStart, this) == 1) claim_ = claim;
}

void GpuRecording::onGpuOperator() {
  // The injection library is notified when CUDA starts, which may happen in this call.
  if (!extent_ || injected_) return;
  std::call_once(once_, [this] {
    if (const auto gpus = gpuDevices(); gpus.has_value() && !gpus->empty()) begin();
  });
}

void GpuRecording::onCudaStart(void* self) {
  auto* const recording = static_cast<GpuRecording*>(self);
  std::call_once(recording->once_, [recording] { recording->begin(); });
}

void GpuRecording::begin() {
  if (const Status status = cupti::attach(profiler_, *extent_); !status.has_value()) {
    problem_ = status.error().message;
    writeProblem();
    return;
  }
  attached_ = true;
}

void GpuRecording::writeProblem() {
  if (problem_.empty()) return;
  profiler_.withSink([this](TraceSink& sink) { sink.meta(meta::kRecorderNotes, problem_); });
}

void GpuRecording::end() {
  if (claim_ != nullptr) (void)claim_(nullptr, this);
  claim_ = nullptr;
  if (attached_.exchange(false)) {
    cupti::detach();
    problem_ += cupti::takeNotes();
  }
  writeProblem();  // CUDA may have started before the recording
}

}  // namespace pitwall::session
