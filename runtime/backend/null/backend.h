// Computes nothing: correct shapes, empty kernels. For tests of everything except the operators.
#pragma once

#include <memory>

#include "runtime/backend/support/options.h"

namespace pitwall {

class Backend;
std::unique_ptr<Backend> makeNullBackend(const BackendOptions& options);

}  // namespace pitwall
