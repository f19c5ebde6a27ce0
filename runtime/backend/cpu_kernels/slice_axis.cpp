// Copies row by row.

#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/cpu_kernels/parallel_for.h"
#include "runtime/backend/support/axis.h"

namespace pitwall::cpu_kernels {

RunFunction make(const SliceAxisDesc& desc, const Request& r, Signature& s) {
  const AxisExtents e = axisExtents(s.inputs[0].shape, desc.axis);
  const SliceAxisDesc range = desc.of(e.count);
  const bool backward = r.pass == Pass::backward;
  if (backward) s.inputs[0].layout = r.inputs[0].layout;  // not read
  const std::int64_t whole = e.count * e.inner, begin = range.begin * e.inner,
                     part = (range.end - range.begin) * e.inner;
  return [=, outer = e.outer, parallel_from = r.options.parallel_elements](const KernelArgs& a) {
    const float* from = input(a, backward ? 1 : 0);
    float* to = output(a, 0);
    parallelFor(outer, Split::ofRows(parallel_from, whole, a), [=](std::int64_t first, std::int64_t last) {
      for (std::int64_t o = first; o < last; ++o) {
        if (!backward) {
          std::copy_n(from + o * whole + begin, part, to + o * part);
          continue;
        }
        float* row = to + o * whole;
        std::fill_n(row, begin, 0.0F);
        std::copy_n(from + o * part, part, row + begin);
        std::fill_n(row + begin + part, whole - begin - part, 0.0F);
      }
    });
    return Status{};
  };
}

}  // namespace pitwall::cpu_kernels
