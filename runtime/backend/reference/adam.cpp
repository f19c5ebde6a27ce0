#include <algorithm>
#include <cmath>

#include "runtime/backend/reference/operators.h"

namespace pitwall::reference {

RunFunction make(const AdamDesc& desc, Pass, Signature& s) {
  std::vector<std::int64_t> sizes;
  for (const TensorSpec& gradient : s.inputs) sizes.push_back(gradient.shape.elements());
  return [desc, sizes](const KernelArgs& a) {
    const std::size_t count = sizes.size();
    for (std::size_t w = 0; w < count; ++w) {
      float *weight = output(a, w), *mean = output(a, count + w), *variance = output(a, 2 * count + w);
      for (std::int64_t i = 0; i < sizes[w]; ++i) {
        const float g = a.rescale * input(a, w)[i] + desc.weight_decay * weight[i];
        mean[i] = desc.beta1 * mean[i] + (1 - desc.beta1) * g;
        variance[i] = desc.beta2 * variance[i] + (1 - desc.beta2) * g * g;
        weight[i] -= a.rate * mean[i] / (std::sqrt(variance[i]) + desc.epsilon);
      }
      if (desc.multi_precision) std::copy_n(weight, sizes[w], output(a, 3 * count + w));
    }
    return Status{};
  };
}

}  // namespace pitwall::reference
