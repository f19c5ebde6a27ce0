// Operators whose gradient is one call of their kernel: what their calls have in common.
#pragma once

#include <span>
#include <vector>

#include "runtime/array/call.h"

namespace pitwall {

struct KernelOperator {
  static constexpr unsigned kAll = ~0U;

  const char* forward;   // as traces name the passes; literals
  const char* backward;  // nullptr: it has no gradient
  FlopFunction forward_flop, backward_flop;
  // What the backward pass reads, in this order: inputs and outputs (bit i: the one at i), the gradient of output 0.
  unsigned reads_inputs = kAll;
  unsigned reads_outputs = 0;
  bool reads_gradient = true;
  // The inputs that have a gradient: its outputs, in this order.
  std::size_t first_gradient = 0;
  std::size_t gradients = SIZE_MAX;       // at most
  std::size_t outputs = 1;                // of the forward pass; inference has the first alone
  std::size_t forward_inputs = SIZE_MAX;  // that the forward pass reads, at most
};

// Output 0. `op` outlives the arrays.
Result<NDArray> callKernel(const KernelOperator& op, const OperatorKindDesc& desc,
                           std::span<const NamedArray> arrays, const CallSite& site);

inline Result<NDArray> callKernel(const KernelOperator& op, const OperatorKindDesc& desc,
                                  std::initializer_list<NamedArray> arrays, const CallSite& site) {
  return callKernel(op, desc, std::span(arrays.begin(), arrays.size()), site);
}

}  // namespace pitwall
