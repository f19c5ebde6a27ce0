// Vectorised loops for operators that a library lacks or does not speed up: one pass over memory.
//
// They process elements in memory order, so any layout works that all arrays of the call share. Below
// BackendOptions::parallel_elements elements only the calling thread is used.
#pragma once

#include "runtime/backend/support/function_kernel.h"
#include "runtime/backend/support/options.h"
#include "runtime/operators.h"

namespace pitwall::cpu_kernels {

struct Request {
  Pass pass;
  std::span<const TensorSpec> inputs;
  const BackendOptions& options;
};

// nullptr for an operator without a kernel here. `signature` is row-major.
KernelPtr makeKernel(const OperatorKindDesc& desc, Pass pass, std::span<const TensorSpec> inputs,
                     const Signature& signature, const BackendOptions& options);

// Of each operator that has a file of its name here. Changes the layouts in the signature to those that its function
// expects and produces.
#define PITWALL_OPERATOR(Desc) \
  RunFunction make(const Desc& desc, const Request& request, Signature& signature);
#include "runtime/backend/cpu_kernels/kernel_list.inc"  // generated
#undef PITWALL_OPERATOR

// Elements in memory, padding included.
inline std::int64_t storedElements(const TensorSpec& spec) { return spec.sizeBytes() / sizeOf(spec.dtype); }

}  // namespace pitwall::cpu_kernels
