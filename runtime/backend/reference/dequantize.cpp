#include "runtime/backend/reference/operators.h"
#include "runtime/backend/support/quantized_range.h"

namespace pitwall::reference {

RunFunction make(const DequantizeDesc&, Pass, Signature& s) {
  return [from = s.inputs[0].dtype, n = s.outputs[0].shape.elements()](const KernelArgs& a) {
    const NumberRange range{input(a, 1)[0], input(a, 2)[0]};
    for (std::int64_t i = 0; i < n; ++i)
      output(a, 0)[i] =
          static_cast<float>(elementAt(a.inputs[0], from, i) / range.scale(from) + range.offset(from));
    return Status{};
  };
}

}  // namespace pitwall::reference
