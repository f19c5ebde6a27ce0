#include "runtime/backend/reference/operators.h"

namespace pitwall::reference {

RunFunction make(const AddNDesc& desc, Pass, Signature& s) {
  const std::int64_t n = s.outputs[0].shape.elements();
  return [count = static_cast<std::size_t>(desc.inputs), n](const KernelArgs& a) {
    for (std::int64_t i = 0; i < n; ++i) {
      float sum = input(a, 0)[i];
      for (std::size_t k = 1; k < count; ++k) sum += input(a, k)[i];
      output(a, 0)[i] = sum;
    }
    return Status{};
  };
}

}  // namespace pitwall::reference
