#include "runtime/backend/reference/operators.h"
#include "runtime/backend/reference/softmax_rows.h"

namespace pitwall::reference {
namespace {

// ddata = out * (dout - sum of out * dout) / temperature
void backward(const AxisExtents& e, double temperature, const KernelArgs& a) {
  const float *out = input(a, 0), *dout = input(a, 1);
  axisRows(e, [&](std::int64_t at) {
    double sum = 0;
    for (std::int64_t j = 0; j < e.count; ++j)
      sum += static_cast<double>(out[at + j * e.inner]) * static_cast<double>(dout[at + j * e.inner]);
    for (std::int64_t j = 0; j < e.count; ++j) {
      const std::int64_t i = at + j * e.inner;
      output(a, 0)[i] = static_cast<float>(static_cast<double>(out[i]) *
                                           (static_cast<double>(dout[i]) - sum) / temperature);
    }
  });
}

}  // namespace

RunFunction make(const SoftmaxDesc& desc, Pass pass, Signature& s) {
  const AxisExtents extents = axisExtents(s.inputs[0].shape, desc.axis);
  const double temperature = static_cast<double>(desc.temperature);
  if (pass == Pass::backward)
    return [=](const KernelArgs& a) { return backward(extents, temperature, a), Status{}; };
  return [=](const KernelArgs& a) {
    return softmaxRows(extents, temperature, input(a, 0), output(a, 0)), Status{};
  };
}

}  // namespace pitwall::reference
