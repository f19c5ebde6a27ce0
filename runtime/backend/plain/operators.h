// Vectorised loops for what a library does not have, or not faster: one pass over memory.
//
// They work on the bytes as they lie, so any layout will do that all arrays of the call share. Below
// BackendOptions::parallel_elements elements the calling thread does it alone.
#pragma once

#include "runtime/backend/common/function_kernel.h"
#include "runtime/backend/common/options.h"

namespace pitwall::plain {

struct Request {
  Pass pass;
  std::span<const TensorSpec> inputs;
  const BackendOptions& options;
};

// nullptr for an operator that is not done here. `signature` is row-major.
KernelPtr make(const OperatorKindDesc& desc, Pass pass, std::span<const TensorSpec> inputs,
               const Signature& signature, const BackendOptions& options);

// Each changes the layouts in the signature to those that its function takes and makes.
RunFunction dropout(const DropoutDesc& desc, const Request& request, Signature& signature);
RunFunction binary(const BinaryDesc& desc, const Request& request, Signature& signature);
RunFunction linear(const LinearDesc& desc, const Request& request, Signature& signature);
RunFunction softmaxCrossEntropy(const SoftmaxCrossEntropyDesc& desc, const Request& request,
                                Signature& signature);
RunFunction sgd(const SgdDesc& desc, const Request& request, Signature& signature);

// Elements in memory, padding included.
inline std::int64_t storedElements(const TensorSpec& spec) { return spec.sizeBytes() / sizeOf(spec.dtype); }

}  // namespace pitwall::plain
