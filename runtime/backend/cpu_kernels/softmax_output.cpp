// The gradient, in one pass over memory; oneDNN computes the softmax.
#include "runtime/backend/support/softmax_output.h"

#include "db/try.h"
#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/cpu_kernels/parallel_for.h"

namespace pitwall::cpu_kernels {
namespace {

// The classes of a block are inner elements each, which have different labels.
void subtractLabels(const SoftmaxOutputDesc& d, const AxisExtents& e, float scale, const float* labels,
                    const float* out, float* gradient) {
  const float others = e.count > 1 ? d.smooth_alpha / static_cast<float>(e.count - 1) : 0;
  for (std::int64_t i = 0; i < e.count * e.inner; ++i) gradient[i] = (out[i] - others) * scale;
  for (std::int64_t i = 0; i < e.inner; ++i) {
    if (isIgnored(d, labels[i])) {
      for (std::int64_t j = 0; j < e.count; ++j) gradient[j * e.inner + i] = 0;
    } else {
      const std::int64_t at = static_cast<std::int64_t>(labels[i]) * e.inner + i;
      gradient[at] = (out[at] - (1 - d.smooth_alpha)) * scale;
    }
  }
}

}  // namespace

RunFunction make(const SoftmaxOutputDesc& desc, const Request& r, Signature& s) {
  if (r.pass != Pass::backward) return nullptr;
  const std::int64_t parallel_from = r.options.parallel_elements, n = s.outputs[0].shape.elements();
  if (s.inputs[0].shape == s.inputs[1].shape) {
    return [=](const KernelArgs& a) {
      const float *label = input(a, 0), *out = input(a, 1);
      float* gradient = output(a, 0);
      parallelFor(n, {parallel_from, a}, [=](std::int64_t begin, std::int64_t end) {
#pragma omp simd
        for (std::int64_t i = begin; i < end; ++i) gradient[i] = (out[i] - label[i]) * desc.grad_scale;
      });
      return Status{};
    };
  }
  const AxisExtents e = softmaxExtents(desc, s.outputs[0].shape);
  const std::int64_t block = e.count * e.inner;
  return [=](const KernelArgs& a) -> Status {
    const float *labels = input(a, 0), *out = input(a, 1);
    const float scale = PITWALL_TRY(gradientScale(desc, e, labels));
    parallelFor(e.outer, Split::ofRows(parallel_from, block, a), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t o = begin; o < end; ++o)
        subtractLabels(desc, e, scale, labels + o * e.inner, out + o * block, output(a, 0) + o * block);
    });
    return {};
  };
}

}  // namespace pitwall::cpu_kernels
