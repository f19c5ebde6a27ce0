#include "runtime/backend/cpu_kernels/operators.h"

namespace pitwall::cpu_kernels {
namespace {

RunFunction function(const DropoutDesc& d, const Request& r, Signature& s) { return dropout(d, r, s); }
RunFunction function(const BinaryDesc& d, const Request& r, Signature& s) { return binary(d, r, s); }
RunFunction function(const LinearDesc& d, const Request& r, Signature& s) { return linear(d, r, s); }
RunFunction function(const SoftmaxCrossEntropyDesc& d, const Request& r, Signature& s) {
  return softmaxCrossEntropy(d, r, s);
}
RunFunction function(const SgdDesc& d, const Request& r, Signature& s) { return sgd(d, r, s); }
template <class D>
RunFunction function(const D&, const Request&, Signature&) {
  return nullptr;
}

}  // namespace

KernelPtr make(const OperatorKindDesc& desc, Pass pass, std::span<const TensorSpec> inputs,
               const Signature& signature, const BackendOptions& options) {
  Signature s = signature;
  const Request request{pass, inputs, options};
  RunFunction run = std::visit([&](const auto& d) { return function(d, request, s); }, desc);
  if (!run) return nullptr;
  return std::make_shared<FunctionKernel>(std::move(s), "plain", std::move(run));
}

}  // namespace pitwall::cpu_kernels
