// The backend that others are tested against: simple loops, row-major arrays only.
#pragma once

#include <memory>

#include "runtime/backend/support/options.h"
#include "runtime/backend/support/signature.h"

namespace pitwall {

std::unique_ptr<Backend> makeReferenceBackend(const BackendOptions& options);

namespace reference {

// The kernel of a signature that inferSignature() made; nullptr for an operator without one.
KernelPtr makeKernel(const OperatorKindDesc& desc, Pass pass, Signature signature);

}  // namespace reference
}  // namespace pitwall
