#include "runtime/backend/reference/operators.h"
#include "runtime/backend/reference/softmax_rows.h"

namespace pitwall::reference {
namespace {

// ddata = out * (dout - sum of out * dout) / temperature; of the logarithm (dout - exp(out) * sum of dout) / temperature
void backward(const AxisExtents& e, const SoftmaxDesc& desc, const KernelArgs& a) {
  const double temperature = static_cast<double>(desc.temperature);
  const auto out = [&](std::int64_t i) { return static_cast<double>(input(a, 0)[i]); };
  const auto dout = [&](std::int64_t i) { return static_cast<double>(input(a, 1)[i]); };
  axisRows(e, [&](std::int64_t at) {
    double sum = 0;
    for (std::int64_t j = 0; j < e.count; ++j) {
      const std::int64_t i = at + j * e.inner;
      sum += desc.logarithm ? dout(i) : out(i) * dout(i);
    }
    for (std::int64_t j = 0; j < e.count; ++j) {
      const std::int64_t i = at + j * e.inner;
      const double change = desc.logarithm ? dout(i) - std::exp(out(i)) * sum : out(i) * (dout(i) - sum);
      output(a, 0)[i] = static_cast<float>(change / temperature);
    }
  });
}

}  // namespace

RunFunction make(const SoftmaxDesc& desc, Pass pass, Signature& s) {
  const AxisExtents extents = axisExtents(s.inputs[0].shape, desc.axis);
  if (pass == Pass::backward)
    return [=](const KernelArgs& a) { return backward(extents, desc, a), Status{}; };
  return [=](const KernelArgs& a) { return softmaxRows(extents, desc, input(a, 0), output(a, 0)), Status{}; };
}

}  // namespace pitwall::reference
