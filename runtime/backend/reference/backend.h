// The second opinion: plain loops, row-major arrays only.
#pragma once

#include <memory>

#include "runtime/backend/common/options.h"

namespace pitwall {

class Backend;
std::unique_ptr<Backend> makeReferenceBackend(const BackendOptions& options);

}  // namespace pitwall
