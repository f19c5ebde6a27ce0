// The fast CPU backend: oneDNN's primitives, and vectorised loops of our own for what it does not have.
#pragma once

#include <memory>

#include "runtime/backend/common/options.h"

namespace pitwall {

class Backend;
std::unique_ptr<Backend> makeOnednnBackend(const BackendOptions& options);

}  // namespace pitwall
