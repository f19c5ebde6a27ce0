#include "runtime/backend/reference/operators.h"
#include "runtime/backend/support/elements.h"

namespace pitwall::reference {

RunFunction make(const QuantizedBinaryDesc& desc, Pass, Signature& s) {
  return [desc, lhs_type = s.inputs[0].dtype, rhs_type = s.inputs[1].dtype,
          n = s.outputs[0].shape.elements()](const KernelArgs& a) {
    const bool adds = desc.type == BinaryType::add;
    for (std::int64_t i = 0; i < n; ++i) {
      const double lhs = static_cast<double>(desc.lhs_scale) * elementAt(a.inputs[0], lhs_type, i);
      const double rhs = static_cast<double>(desc.rhs_scale) * elementAt(a.inputs[1], rhs_type, i);
      storeElement(a.outputs[0], desc.output, i, adds ? lhs + rhs : lhs * rhs);
    }
    return Status{};
  };
}

}  // namespace pitwall::reference
