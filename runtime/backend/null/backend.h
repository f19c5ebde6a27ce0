// Computes nothing: right shapes, empty kernels. For tests of what stands around the operators.
#pragma once

#include <memory>

#include "runtime/backend/common/options.h"

namespace pitwall {

class Backend;
std::unique_ptr<Backend> makeNullBackend(const BackendOptions& options);

}  // namespace pitwall
