#include "runtime/backend/reference/convolution_loops.h"
#include "runtime/backend/reference/fused.h"
#include "runtime/backend/reference/operators.h"
#include "runtime/backend/support/elements.h"

namespace pitwall::reference {

RunFunction make(const QuantizedConvolutionDesc& desc, Pass, Signature& s) {
  const ConvolutionLoops loops{desc.convolution, windowOf(s.inputs[0].shape, s.outputs[0].shape)};
  const DType addend = desc.convolution.adds ? s.inputs[4].dtype : DType::float32;
  return [=, from = s.inputs[0].dtype](const KernelArgs& a) {
    loops.outputs([&](auto n, auto m, auto y, auto x) {
      double sum = static_cast<double>(input(a, 3)[m]);
      loops.products(n, m, y, x, [&](auto i, auto k) {
        sum += elementAt(a.inputs[0], from, i) * elementAt(a.inputs[1], DType::int8, k);
      });
      const std::int64_t at = loops.out(n, m, y, x);
      sum *= static_cast<double>(input(a, 2)[m]);
      if (desc.convolution.adds)
        sum += static_cast<double>(desc.addend_scale) * elementAt(a.inputs[4], addend, at);
      storeElement(a.outputs[0], desc.output, at, activated(desc.convolution.activation, sum));
    });
    return Status{};
  };
}

}  // namespace pitwall::reference
