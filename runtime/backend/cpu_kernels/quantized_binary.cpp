// Row-major arrays, and int32 results, which oneDNN's kernel does not have.
#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/cpu_kernels/parallel_for.h"
#include "runtime/backend/support/elements.h"

namespace pitwall::cpu_kernels {

RunFunction make(const QuantizedBinaryDesc& desc, const Request& r, Signature& s) {
  const bool row_major = r.inputs[0].layout == nullptr && r.inputs[1].layout == nullptr;
  if (!row_major && desc.output != DType::int32) return nullptr;
  return [desc, lhs_type = s.inputs[0].dtype, rhs_type = s.inputs[1].dtype, n = s.outputs[0].shape.elements(),
          parallel_from = r.options.parallel_elements](const KernelArgs& a) {
    const auto ls = static_cast<double>(desc.lhs_scale), rs = static_cast<double>(desc.rhs_scale);
    parallelFor(n, {parallel_from, a}, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const double lhs = elementAt(a.inputs[0], lhs_type, i), rhs = elementAt(a.inputs[1], rhs_type, i);
        storeElement(a.outputs[0], desc.output, i,
                     desc.type == BinaryType::add ? ls * lhs + rs * rhs : ls * rs * lhs * rhs);
      }
    });
    return Status{};
  };
}

}  // namespace pitwall::cpu_kernels
