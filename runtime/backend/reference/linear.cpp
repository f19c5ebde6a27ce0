#include "runtime/backend/reference/operators.h"

namespace pitwall::reference {

RunFunction make(const LinearDesc& desc, Pass, Signature& s) {
  return [desc, n = s.outputs[0].shape.elements()](const KernelArgs& a) {
    for (std::int64_t i = 0; i < n; ++i) output(a, 0)[i] = desc.scale * input(a, 0)[i] + desc.shift;
    return Status{};
  };
}

}  // namespace pitwall::reference
