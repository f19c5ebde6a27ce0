#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/cpu_kernels/parallel_for.h"
#include "runtime/backend/support/quantized_range.h"

namespace pitwall::cpu_kernels {

RunFunction make(const QuantizeDesc& desc, const Request& r, Signature& s) {
  return [desc, n = s.outputs[0].shape.elements(),
          parallel_from = r.options.parallel_elements](const KernelArgs& a) {
    const auto real = [data = input(a, 0)](std::int64_t i) { return static_cast<double>(data[i]); };
    const NumberRange range = (desc.is_calibrated ? desc.range : rangeOf(n, real)).of(desc.output);
    storeRange(a, range);
    parallelFor(n, {parallel_from, a}, [&](std::int64_t begin, std::int64_t end) {
      storeQuantized({a.outputs[0], desc.output, range}, begin, end, real);
    });
    return Status{};
  };
}

}  // namespace pitwall::cpu_kernels
