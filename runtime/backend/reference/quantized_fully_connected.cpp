#include "runtime/backend/reference/fused.h"
#include "runtime/backend/reference/operators.h"
#include "runtime/backend/support/elements.h"

namespace pitwall::reference {

RunFunction make(const QuantizedFullyConnectedDesc& desc, Pass, Signature& s) {
  const std::int64_t units = desc.dense.units, features = s.inputs[1].shape[1];
  const std::int64_t samples = s.inputs[0].shape.elements() / features;
  return [=, from = s.inputs[0].dtype](const KernelArgs& a) {
    for (std::int64_t n = 0; n < samples; ++n) {
      for (std::int64_t u = 0; u < units; ++u) {
        double sum = static_cast<double>(input(a, 3)[u]);
        for (std::int64_t k = 0; k < features; ++k)
          sum += elementAt(a.inputs[0], from, n * features + k) *
                 elementAt(a.inputs[1], DType::int8, u * features + k);
        storeElement(a.outputs[0], desc.output, n * units + u,
                     activated(desc.dense.activation, sum * static_cast<double>(input(a, 2)[u])));
      }
    }
    return Status{};
  };
}

}  // namespace pitwall::reference
