#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/cpu_kernels/parallel_for.h"
#include "runtime/backend/support/quantized_range.h"

namespace pitwall::cpu_kernels {

RunFunction make(const RequantizeDesc& desc, const Request& r, Signature& s) {
  return [desc, n = s.outputs[0].shape.elements(),
          parallel_from = r.options.parallel_elements](const KernelArgs& a) {
    const double step = 1 / NumberRange{input(a, 1)[0], input(a, 2)[0]}.scale(DType::int32);
    const auto real = [data = static_cast<const std::int32_t*>(a.inputs[0]), step](std::int64_t i) {
      return step * data[i];
    };
    const NumberRange range = (desc.is_calibrated ? desc.range : rangeOf(n, real)).of(desc.output);
    storeRange(a, range);
    parallelFor(n, {parallel_from, a}, [&](std::int64_t begin, std::int64_t end) {
      storeQuantized({a.outputs[0], desc.output, range}, begin, end, real);
    });
    return Status{};
  };
}

}  // namespace pitwall::cpu_kernels
