#include "runtime/backend/support/softmax_output.h"

#include "db/try.h"
#include "runtime/backend/reference/operators.h"
#include "runtime/backend/reference/softmax_rows.h"

namespace pitwall::reference {
namespace {

Status backward(const SoftmaxOutputDesc& d, const AxisExtents& e, const KernelArgs& a) {
  const float *labels = input(a, 0), *out = input(a, 1);
  const double scale = static_cast<double>(PITWALL_TRY(gradientScale(d, e, labels)));
  const double alpha = static_cast<double>(d.smooth_alpha);
  const double others = e.count > 1 ? alpha / static_cast<double>(e.count - 1) : 0;
  std::int64_t row = 0;
  axisRows(e, [&](std::int64_t at) {
    const float label = labels[row++];
    for (std::int64_t j = 0; j < e.count; ++j) {
      const std::int64_t i = at + j * e.inner;
      const double target = j == static_cast<std::int64_t>(label) ? 1 - alpha : others;
      output(a, 0)[i] =
          isIgnored(d, label) ? 0 : static_cast<float>((static_cast<double>(out[i]) - target) * scale);
    }
  });
  return {};
}

}  // namespace

RunFunction make(const SoftmaxOutputDesc& desc, Pass pass, Signature& s) {
  const AxisExtents extents = softmaxExtents(desc, s.outputs[0].shape);
  if (pass != Pass::backward)
    return [=](const KernelArgs& a) { return softmaxRows(extents, {}, input(a, 0), output(a, 0)), Status{}; };
  if (s.inputs[0].shape != s.inputs[1].shape)
    return [=](const KernelArgs& a) { return backward(desc, extents, a); };
  return [desc, n = s.outputs[0].shape.elements()](const KernelArgs& a) {
    for (std::int64_t i = 0; i < n; ++i)
      output(a, 0)[i] = (input(a, 1)[i] - input(a, 0)[i]) * desc.grad_scale;
    return Status{};
  };
}

}  // namespace pitwall::reference
