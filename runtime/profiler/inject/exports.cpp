// The functions of the shared library that NVTX, the CUDA driver and the loader call.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>

#include "runtime/profiler/c/joined_recording.h"
#include "runtime/profiler/cupti/collector.h"
#include "runtime/profiler/inject/gpu_claim.h"
#include "runtime/profiler/inject/recording.h"
#include "runtime/profiler/nvtx/callbacks.h"
#include "runtime/profiler/torch/layers.h"
#include "runtime/profiler/torch/operators.h"

#define PITWALL_EXPORT extern "C" __attribute__((visibility("default")))

using namespace pitwall;

// Each copy of NVTX in the process calls this, once; 1 = its calls are recorded from now on.
PITWALL_EXPORT int InitializeInjectionNvtx2(nvtx::abi::GetExportTable get) {
  try {
    return get != nullptr && inject::begin() != nullptr && nvtx::install(get) ? 1 : 0;
  } catch (const std::exception&) {
    return 0;
  }
}

PITWALL_EXPORT int InitializeInjectionNvtxExtension(nvtx::abi::ExtensionModule* module) {
  try {
    return module != nullptr && inject::begin() != nullptr && nvtx::install(*module) ? 1 : 0;
  } catch (const std::exception&) {
    return 0;
  }
}

// The CUDA driver calls this in cuInit() when CUDA_INJECTION64_PATH names this library.
PITWALL_EXPORT int InitializeInjection() {
  try {
    if (inject::gpuClaim().startClaimant()) return 1;
    const char* const setting = std::getenv("PITWALL_RECORD_GPU");
    const auto extent = cupti::extentOf(setting == nullptr ? "" : setting);
    if (!extent) return 1;
    Profiler* const profiler = inject::begin();
    if (profiler == nullptr) return 1;
    if (const Status status = cupti::attach(*profiler, *extent); !status.has_value())
      inject::printNote(status.error().message);
  } catch (const std::exception&) {
    // The program continues without recording.
  }
  return 1;
}

// Pitwall's runtime in this process records its GPUs itself (inject/gpu_claim.h).
PITWALL_EXPORT int pitwall_inject_claim_gpu(inject::GpuClaim::Begin begin, void* claimant) {
  if (begin != nullptr) return inject::gpuClaim().claim(begin, claimant) ? 1 : 0;
  inject::gpuClaim().giveUp(claimant);
  return 1;
}

// `pitwall record` calls this in Python programs that have imported PyTorch. Returns 1 when its operators are recorded.
PITWALL_EXPORT int pitwall_inject_torch() {
  try {
    const Status status = torch::recordOperators(torch_abi::find(), &inject::begin);
    if (!status.has_value()) inject::printNote(status.error().message);
    return status.has_value() ? 1 : 0;
  } catch (const std::exception&) {
    return 0;
  }
}

// Called around each call of one of the program's modules, with a number for each module (torch/layers.h).
PITWALL_EXPORT void pitwall_inject_torch_enter_layer(int layer) {
  try {
    torch::enterLayer(layer);
  } catch (const std::exception&) {
    // Recorded without its layer.
  }
}
PITWALL_EXPORT void pitwall_inject_torch_leave_layer(int layer) { torch::leaveLayer(layer); }
PITWALL_EXPORT void pitwall_inject_torch_name_layer(int layer, const char* name) {
  try {
    torch::nameLayer(layer, name);
  } catch (const std::exception&) {
  }
}

// If this library was loaded before the program (LD_PRELOAD), its _exit() finishes the trace too.
PITWALL_EXPORT __attribute__((noreturn)) void _exit(int status) {
  inject::end();
  for (;;) syscall(SYS_exit_group, status);
}
PITWALL_EXPORT __attribute__((noreturn)) void _Exit(int status) { _exit(status); }

namespace {
// The C interface records into the same recording.
[[maybe_unused]] const bool g_joined = (profiler_c::setJoin(&inject::begin), true);

__attribute__((destructor)) void atUnload() {
  cupti::abandon();
  inject::end();
}
}  // namespace
