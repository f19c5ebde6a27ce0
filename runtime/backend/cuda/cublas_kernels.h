// Kernels whose products of matrices are cuBLASLt's: dot, batch_dot, FullyConnected, RNN.
#pragma once

#include "runtime/backend/cuda/options.h"
#include "runtime/backend/support/signature.h"

namespace pitwall::cuda {

// nullptr for another operator, and where cuBLASLt is not there or has no kernel. The calling thread uses the GPU. Errors: those of
// cuBLASLt.
Result<KernelPtr> makeProduct(const OperatorKindDesc& desc, Pass pass, const Signature& signature,
                              const CudaOptions& options);

}  // namespace pitwall::cuda
