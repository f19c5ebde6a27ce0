#include "runtime/array/kernel_captures.h"

#include <algorithm>

#include "db/try.h"
#include "runtime/array/kernel_run.h"
#include "runtime/gpu/captures.h"
#include "runtime/gpu/work.h"

namespace pitwall {

struct KernelCaptures::State {
  Session& session;
  const Device device;
  const std::string layer;
  Mutex mutex = {};
  std::unique_ptr<GpuCaptures> captures PITWALL_GUARDED_BY(mutex) = nullptr;  // made by the first run

  GpuCaptures& open(GpuWork& work, std::size_t kernels) {
    const ScopedLock lock(mutex);
    if (captures == nullptr) {
      const Settings& settings = session.settings();
      const GpuCaptures::Options options{
          .verbose = settings.boolean("MXNET_CUDA_GRAPHS_VERBOSE"),
          .most_lines = static_cast<int>(settings.integer("MXNET_CUDA_GRAPHS_MAX_LOG_ENTRIES"))};
      captures = std::make_unique<GpuCaptures>(work.driver(), options, layer, kernels);
    }
    return *captures;
  }
};

bool KernelCaptures::areWanted(const Session& session, Device device) {
  return device.kind == DeviceKind::gpu && session.settings().boolean("MXNET_ENABLE_CUDA_GRAPHS");
}

KernelCaptures::KernelCaptures(Session& session, Device device, std::string layer)
    : state_(new State{.session = session, .device = device, .layer = std::move(layer)}) {}

KernelCaptures::~KernelCaptures() = default;

Status KernelCaptures::run(const std::vector<Run>& runs) {
  GpuWork& work = *PITWALL_TRY(state_->session.gpuWork(state_->device));
  GpuThread& thread = *PITWALL_TRY(work.here(state_->device));
  Bytes workspace_bytes = 0;
  std::vector<const void*> addresses;
  for (const Run& run : runs) {
    addresses.insert(addresses.end(), run.from.begin(), run.from.end());
    addresses.insert(addresses.end(), run.to.begin(), run.to.end());
    addresses.push_back(run.workspace);
    if (run.workspace == nullptr) workspace_bytes = std::max(workspace_bytes, run.kernel->workspaceBytes());
  }
  // One for all that have none, so that none is allocated during the capture.
  addresses.push_back(PITWALL_TRY(work.workspace(thread, workspace_bytes)));
  addresses.push_back(thread.stream);
  return state_->open(work, runs.size()).run(thread.stream, addresses, [&]() -> Status {
    for (const Run& run : runs)
      PITWALL_TRY(
          runKernelOn(state_->session, state_->device, run.kernel,
                      {.inputs = run.from, .outputs = run.to, .context = {.workspace = run.workspace}}));
    return {};
  });
}

}  // namespace pitwall
