#include "db/try.h"
#include "runtime/backend/reference/operators.h"
#include "runtime/backend/support/axis.h"
#include "runtime/backend/support/indices.h"

namespace pitwall::reference {

RunFunction make(const TakeDesc& desc, Pass pass, Signature& s) {
  const AxisExtents e = axisExtents(s.inputs[0].shape, desc.axis);
  const std::int64_t n = s.inputs[1].shape.elements();
  const bool backward = pass == Pass::backward;
  return [=](const KernelArgs& a) -> Status {
    const float* indices = input(a, 1);
    if (desc.mode == TakeMode::raise) PITWALL_TRY(checkIndices("take", indices, n, e.count));
    std::vector<double> sums(static_cast<std::size_t>(backward ? e.outer * e.count * e.inner : 0));
    for (std::int64_t o = 0; o < e.outer; ++o) {
      for (std::int64_t j = 0; j < n; ++j) {
        const std::int64_t element = takenElement(desc.mode, indices[j], e.count);
        for (std::int64_t i = 0; i < e.inner; ++i) {
          const std::int64_t whole = (o * e.count + element) * e.inner + i, part = (o * n + j) * e.inner + i;
          if (backward)
            sums[static_cast<std::size_t>(whole)] += static_cast<double>(input(a, 2)[part]);
          else
            output(a, 0)[part] = input(a, 0)[whole];
        }
      }
    }
    for (std::size_t i = 0; i < sums.size(); ++i) output(a, 0)[i] = static_cast<float>(sums[i]);
    return {};
  };
}

}  // namespace pitwall::reference
