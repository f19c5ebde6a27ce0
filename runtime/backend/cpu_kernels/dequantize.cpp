#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/cpu_kernels/parallel_for.h"
#include "runtime/backend/support/elements.h"
#include "runtime/number_range.h"

namespace pitwall::cpu_kernels {

RunFunction make(const DequantizeDesc&, const Request& r, Signature& s) {
  return [from = s.inputs[0].dtype, n = s.outputs[0].shape.elements(),
          parallel_from = r.options.parallel_elements](const KernelArgs& a) {
    const NumberRange range{input(a, 1)[0], input(a, 2)[0]};
    const double step = 1 / range.scale(from), offset = range.offset(from);
    parallelFor(n, {parallel_from, a}, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i)
        output(a, 0)[i] = static_cast<float>(step * elementAt(a.inputs[0], from, i) + offset);
    });
    return Status{};
  };
}

}  // namespace pitwall::cpu_kernels
