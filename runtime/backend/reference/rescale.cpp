#include "runtime/backend/reference/operators.h"
#include "runtime/backend/support/elements.h"

namespace pitwall::reference {

RunFunction make(const RescaleDesc& desc, Pass, Signature& s) {
  return [desc, from = s.inputs[0].dtype, n = s.outputs[0].shape.elements()](const KernelArgs& a) {
    for (std::int64_t i = 0; i < n; ++i)
      storeElement(a.outputs[0], desc.output, i,
                   static_cast<double>(desc.scale) * elementAt(a.inputs[0], from, i));
    return Status{};
  };
}

}  // namespace pitwall::reference
