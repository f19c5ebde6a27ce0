// The fast CPU backend: oneDNN's primitives, and vectorised loops (cpu_kernels/) for operators that it lacks.
#pragma once

#include <memory>

#include "runtime/backend/support/options.h"

namespace pitwall {

class Backend;
std::unique_ptr<Backend> makeOnednnBackend(const BackendOptions& options);

}  // namespace pitwall
