#include "runtime/backend/reference/operators.h"
#include "runtime/backend/support/two_bit.h"

namespace pitwall::reference {

RunFunction make(const TwoBitSumDesc& desc, Pass, Signature& s) {
  return [count = s.outputs[0].shape.elements(), threshold = desc.threshold](const KernelArgs& a) {
    for (std::int64_t i = 0; i < count; ++i) {
      float sum = 0;
      for (const void* const codes : a.inputs)
        sum += twoBitValue(static_cast<const std::uint8_t*>(codes), i, threshold);
      output(a, 0)[i] = sum;
    }
    return Status{};
  };
}

}  // namespace pitwall::reference
