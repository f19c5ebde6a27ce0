// Runs a kernel on a device.
#pragma once

#include "runtime/backend.h"
#include "runtime/session.h"

namespace pitwall {

// Adds the rest of the context: the workspace, of a GPU only where there is none yet, and its stream of the calling thread, on which
// the work then is; of a CPU the number of threads. Errors: those of the kernel and of its workspace.
Status runKernelOn(Session& session, Device device, const KernelPtr& kernel, KernelArgs args);

}  // namespace pitwall
