#include <algorithm>

#include "runtime/backend/reference/operators.h"
#include "runtime/backend/support/axis.h"

namespace pitwall::reference {

RunFunction make(const ConcatDesc& desc, Pass pass, Signature& s) {
  const bool backward = pass == Pass::backward;
  const auto count = static_cast<std::size_t>(desc.inputs);
  const Shape& whole = backward ? s.inputs[count].shape : s.outputs[0].shape;
  const AxisExtents extents = axisExtents(whole, desc.axis);
  const std::int64_t row = extents.count * extents.inner;  // of the whole
  std::vector<std::int64_t> rows;                          // of each part
  for (std::size_t i = 0; i < count; ++i) rows.push_back(s.inputs[i].shape.elements() / extents.outer);
  return [backward, count, rows, row, outer = extents.outer](const KernelArgs& a) {
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::int64_t o = 0; o < outer; ++o) {
        if (backward) {
          std::copy_n(input(a, count) + o * row + begin, rows[i], output(a, i) + o * rows[i]);
        } else {
          std::copy_n(input(a, i) + o * rows[i], rows[i], output(a, 0) + o * row + begin);
        }
      }
      begin += rows[i];
    }
    return Status{};
  };
}

}  // namespace pitwall::reference
