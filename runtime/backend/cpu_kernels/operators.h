// Vectorised loops for operators that a library lacks or does not speed up: one pass over memory.
//
// They process elements in memory order, so any layout works that all arrays of the call share. Below
// BackendOptions::parallel_elements elements only the calling thread is used.
#pragma once

#include "runtime/backend/support/function_kernel.h"
#include "runtime/backend/support/options.h"

namespace pitwall::cpu_kernels {

struct Request {
  Pass pass;
  std::span<const TensorSpec> inputs;
  const BackendOptions& options;
};

// nullptr for an operator without a kernel here. `signature` is row-major.
KernelPtr makeKernel(const OperatorKindDesc& desc, Pass pass, std::span<const TensorSpec> inputs,
                     const Signature& signature, const BackendOptions& options);

// One line per operator. Each changes the layouts in the signature to those that its function expects and
// produces.
RunFunction make(const DropoutDesc& desc, const Request& request, Signature& signature);
RunFunction make(const BinaryDesc& desc, const Request& request, Signature& signature);
RunFunction make(const LinearDesc& desc, const Request& request, Signature& signature);
RunFunction make(const SoftmaxCrossEntropyDesc& desc, const Request& request, Signature& signature);
RunFunction make(const SgdDesc& desc, const Request& request, Signature& signature);

// Elements in memory, padding included.
inline std::int64_t storedElements(const TensorSpec& spec) { return spec.sizeBytes() / sizeOf(spec.dtype); }

}  // namespace pitwall::cpu_kernels
