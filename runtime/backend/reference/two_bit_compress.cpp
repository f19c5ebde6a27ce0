#include "runtime/backend/reference/operators.h"
#include "runtime/backend/support/two_bit.h"

namespace pitwall::reference {

RunFunction make(const TwoBitCompressDesc& desc, Pass, Signature& s) {
  return [count = s.inputs[0].shape.elements(), threshold = desc.threshold](const KernelArgs& a) {
    auto* const codes = static_cast<std::uint8_t*>(a.outputs[0]);
    for (std::int64_t byte = 0; byte < twoBitBytes(count); ++byte)
      codes[byte] = twoBitByte(input(a, 0) + 4 * byte, output(a, 1) + 4 * byte, count - 4 * byte, threshold);
    return Status{};
  };
}

}  // namespace pitwall::reference
