#include "runtime/backend/reference/operators.h"

namespace pitwall::reference {

RunFunction make(const ReciprocalDesc& desc, Pass pass, Signature& s) {
  const std::int64_t n = s.outputs[0].shape.elements();
  const double scalar = static_cast<double>(desc.scalar);
  const bool backward = pass == Pass::backward;
  return [=](const KernelArgs& a) {
    for (std::int64_t i = 0; i < n; ++i) {
      const double x = static_cast<double>(input(a, 0)[i]);
      output(a, 0)[i] =
          static_cast<float>(backward ? -scalar / (x * x) * static_cast<double>(input(a, 1)[i]) : scalar / x);
    }
    return Status{};
  };
}

}  // namespace pitwall::reference
