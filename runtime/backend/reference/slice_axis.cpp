#include <algorithm>

#include "runtime/backend/reference/operators.h"
#include "runtime/backend/support/axis.h"

namespace pitwall::reference {

RunFunction make(const SliceAxisDesc& desc, Pass pass, Signature& s) {
  const AxisExtents e = axisExtents(s.inputs[0].shape, desc.axis);
  const SliceAxisDesc range = desc.of(e.count);
  const bool backward = pass == Pass::backward;
  return [=](const KernelArgs& a) {
    const float* from = input(a, backward ? 1 : 0);
    if (backward) std::fill_n(output(a, 0), e.outer * e.count * e.inner, 0.0F);
    for (std::int64_t o = 0; o < e.outer; ++o) {
      for (std::int64_t j = range.begin; j < range.end; ++j) {
        for (std::int64_t i = 0; i < e.inner; ++i) {
          const std::int64_t whole = (o * e.count + j) * e.inner + i;
          const std::int64_t part = (o * (range.end - range.begin) + j - range.begin) * e.inner + i;
          output(a, 0)[backward ? whole : part] = from[backward ? part : whole];
        }
      }
    }
    return Status{};
  };
}

}  // namespace pitwall::reference
