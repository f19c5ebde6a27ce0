#include <algorithm>

#include "runtime/backend/reference/operators.h"

namespace pitwall::reference {

RunFunction make(const NagDesc& desc, Pass, Signature& s) {
  std::vector<std::int64_t> sizes;
  for (const TensorSpec& gradient : s.inputs) sizes.push_back(gradient.shape.elements());
  return [desc, sizes](const KernelArgs& a) {
    for (std::size_t w = 0; w < sizes.size(); ++w) {
      float *weight = output(a, w), *momentum = output(a, sizes.size() + w);
      for (std::int64_t i = 0; i < sizes[w]; ++i) {
        const float g = a.rescale * input(a, w)[i] + desc.weight_decay * weight[i];
        momentum[i] = desc.momentum * momentum[i] - a.rate * g;
        weight[i] += desc.momentum * momentum[i] - a.rate * g;
      }
      if (desc.multi_precision) std::copy_n(weight, sizes[w], output(a, 2 * sizes.size() + w));
    }
    return Status{};
  };
}

}  // namespace pitwall::reference
