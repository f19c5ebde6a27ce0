// The backend that others are tested against: simple loops, row-major arrays only.
#pragma once

#include <memory>

#include "runtime/backend/support/options.h"

namespace pitwall {

class Backend;
std::unique_ptr<Backend> makeReferenceBackend(const BackendOptions& options);

}  // namespace pitwall
