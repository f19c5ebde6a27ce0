#include "runtime/backend/cpu_kernels/operators.h"

namespace pitwall::cpu_kernels {

// An operator without an overload has no kernel here.
template <class D>
static RunFunction make(const D&, const Request&, Signature&) {
  return nullptr;
}

KernelPtr makeKernel(const OperatorKindDesc& desc, Pass pass, std::span<const TensorSpec> inputs,
                     const Signature& signature, const BackendOptions& options) {
  Signature s = signature;
  const Request request{pass, inputs, options};
  RunFunction run = std::visit([&](const auto& d) { return make(d, request, s); }, desc);
  if (!run) return nullptr;
  return std::make_shared<FunctionKernel>(std::move(s), "plain", std::move(run));
}

}  // namespace pitwall::cpu_kernels
