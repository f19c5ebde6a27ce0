// Kernels that cuDNN and cuBLASLt compute. Each library is opened when the first of its kernels is prepared.
#pragma once

#include <memory>

#include "runtime/backend/cuda/options.h"
#include "runtime/backend/support/signature.h"

namespace pitwall::cuda {

class Libraries {
 public:
  virtual ~Libraries() = default;
  // nullptr for an operator that the libraries do not have, or where there is no library: Pitwall's own kernels compute it. The
  // calling thread uses the GPU that the kernel is for. Errors: those of the libraries.
  virtual Result<KernelPtr> make(const OperatorKindDesc& desc, Pass pass, const Signature& signature) = 0;
  // "cuDNN 9.19.0"; "" where there is none.
  virtual std::string version() const = 0;
};

std::unique_ptr<Libraries> openLibraries(const CudaOptions& options);

}  // namespace pitwall::cuda
