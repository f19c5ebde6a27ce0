#include "runtime/array/kernel_run.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/array/host_workspace.h"
#include "runtime/gpu/work.h"

namespace pitwall {
namespace {

Status runOnGpu(Session& session, Device device, const KernelPtr& kernel, KernelArgs args) {
  GpuWork& work = *PITWALL_TRY(session.gpuWork(device));
  GpuThread& thread = *PITWALL_TRY(work.here(device));
  args.context.stream = thread.stream;
  if (args.context.workspace == nullptr)
    args.context.workspace = PITWALL_TRY(work.workspace(thread, kernel->workspaceBytes()));
  if (kernel->reportsProblems()) {
    args.context.problem = PITWALL_TRY(
        work.problem(thread, [kernel](const GpuProblem& problem) { return kernel->explain(problem); }));
  }
  return kernel->run(args);
}

}  // namespace

Status runKernelOn(Session& session, Device device, const KernelPtr& kernel, KernelArgs args) {
  args.context.device = device;
  if (device.kind == DeviceKind::gpu) return runOnGpu(session, device, kernel, args);
  const Bytes bytes = kernel->workspaceBytes();
  args.context.threads = session.operatorThreads();
  args.context.workspace = hostWorkspace(bytes);
  if (args.context.workspace == nullptr && bytes != 0) {
    return fail(ErrorCode::io,
                fmt::format("no memory for {} bytes of workspace of {}; a smaller batch needs less", bytes,
                            kernel->implementation()));
  }
  return kernel->run(args);
}

}  // namespace pitwall
