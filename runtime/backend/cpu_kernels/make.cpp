#include "runtime/backend/cpu_kernels/operators.h"

namespace pitwall::cpu_kernels {

static RunFunction makeFunction(const OperatorKindDesc& desc, const Request& request, Signature& signature) {
#define PITWALL_OPERATOR(Desc) \
  if (desc.is<Desc>()) return make(desc.as<Desc>(), request, signature);
#include "runtime/backend/cpu_kernels/kernel_list.inc"
#undef PITWALL_OPERATOR
  return nullptr;
}

KernelPtr makeKernel(const OperatorKindDesc& desc, Pass pass, std::span<const TensorSpec> inputs,
                     const Signature& signature, const BackendOptions& options) {
  Signature s = signature;
  const Request request{pass, inputs, options};
  RunFunction run = makeFunction(desc, request, s);
  if (!run) return nullptr;
  // By operator tuning, which has set both numbers of elements.
  const bool is_alone =
      options.library_parallel_elements != 0 && storedElements(s.outputs[0]) < options.parallel_elements;
  return std::make_shared<FunctionKernel>(std::move(s), is_alone ? "plain, one thread" : "plain",
                                          std::move(run));
}

}  // namespace pitwall::cpu_kernels
