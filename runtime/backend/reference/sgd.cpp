#include <algorithm>

#include "runtime/backend/reference/operators.h"

namespace pitwall::reference {

RunFunction make(const SgdDesc& desc, Pass, Signature& s) {
  std::vector<std::int64_t> sizes;
  for (const TensorSpec& gradient : s.inputs) sizes.push_back(gradient.shape.elements());
  return [desc, sizes](const KernelArgs& a) {
    for (std::size_t w = 0; w < sizes.size(); ++w) {
      float* weight = output(a, w);
      float* momentum = desc.momentum != 0 ? output(a, sizes.size() + w) : nullptr;
      for (std::int64_t i = 0; i < sizes[w]; ++i) {
        const float g = a.rescale * input(a, w)[i] + desc.weight_decay * weight[i];
        const float step = (momentum != nullptr ? desc.momentum * momentum[i] : 0.0F) - a.rate * g;
        if (momentum != nullptr) momentum[i] = step;
        weight[i] += step;
      }
      if (desc.multi_precision) std::copy_n(weight, sizes[w], output(a, a.outputs.size() - sizes.size() + w));
    }
    return Status{};
  };
}

}  // namespace pitwall::reference
