#include <algorithm>

#include "runtime/backend/reference/operators.h"

namespace pitwall::reference {

RunFunction make(const ClipDesc& desc, Pass pass, Signature& s) {
  const std::int64_t n = s.outputs[0].shape.elements();
  if (pass == Pass::backward) {
    return [desc, n](const KernelArgs& a) {
      const float *out = input(a, 0), *dout = input(a, 1);
      for (std::int64_t i = 0; i < n; ++i)
        output(a, 0)[i] = desc.minimum < out[i] && out[i] < desc.maximum ? dout[i] : 0;
      return Status{};
    };
  }
  return [desc, n](const KernelArgs& a) {
    for (std::int64_t i = 0; i < n; ++i)
      output(a, 0)[i] = std::min(std::max(input(a, 0)[i], desc.minimum), desc.maximum);
    return Status{};
  };
}

}  // namespace pitwall::reference
