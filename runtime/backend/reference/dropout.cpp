#include "runtime/backend/reference/operators.h"
#include "runtime/backend/support/random.h"

namespace pitwall::reference {

RunFunction make(const DropoutDesc& desc, Pass pass, Signature& s) {
  const std::int64_t n = s.outputs[0].shape.elements();
  if (pass == Pass::backward) {
    return [n](const KernelArgs& a) {
      for (std::int64_t i = 0; i < n; ++i) output(a, 0)[i] = input(a, 0)[i] * input(a, 1)[i];
      return Status{};
    };
  }
  const std::uint64_t threshold = keepThreshold(desc.rate);
  const float scale = 1 / (1 - desc.rate);
  return [n, threshold, scale](const KernelArgs& a) {
    for (std::int64_t i = 0; i < n; ++i) {
      const bool kept = randomBits(a.context.seed, static_cast<std::uint64_t>(i)) < threshold;
      output(a, 1)[i] = kept ? scale : 0;
      output(a, 0)[i] = input(a, 0)[i] * output(a, 1)[i];
    }
    return Status{};
  };
}

}  // namespace pitwall::reference
