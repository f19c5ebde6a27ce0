#include <algorithm>

#include "runtime/backend/reference/operators.h"
#include "runtime/backend/support/elements.h"

namespace pitwall::reference {

RunFunction make(const QuantizedBatchNormDesc& desc, Pass, Signature& s) {
  const Shape& shape = s.inputs[0].shape;
  const std::int64_t channels = shape[1], pixels = shape.elements() / (shape[0] * channels);
  return [=, from = s.inputs[0].dtype, n = shape.elements()](const KernelArgs& a) {
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t channel = i / pixels % channels;
      const double value = static_cast<double>(input(a, 1)[channel]) * elementAt(a.inputs[0], from, i) +
                           static_cast<double>(input(a, 2)[channel]);
      storeElement(a.outputs[0], desc.output, i, desc.relu ? std::max(value, 0.0) : value);
    }
    return Status{};
  };
}

}  // namespace pitwall::reference
