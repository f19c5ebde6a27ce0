#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/cpu_kernels/parallel_for.h"
#include "runtime/backend/cpu_kernels/share_layout.h"

namespace pitwall::cpu_kernels {

// Of the zeros of padding it would be infinite: arrays with padding are row-major.
RunFunction make(const ReciprocalDesc& desc, const Request& r, Signature& s) {
  shareLayout(r.inputs[0], false, s);
  const std::int64_t n = storedElements(s.inputs[0]), parallel_from = r.options.parallel_elements;
  return [=, scalar = desc.scalar, backward = r.pass == Pass::backward](const KernelArgs& a) {
    const float *data = input(a, 0), *dout = backward ? input(a, 1) : nullptr;
    float* out = output(a, 0);
    parallelFor(n, {parallel_from, a}, [=](std::int64_t begin, std::int64_t end) {
      if (backward) {
#pragma omp simd
        for (std::int64_t i = begin; i < end; ++i) out[i] = -scalar / (data[i] * data[i]) * dout[i];
        return;
      }
#pragma omp simd
      for (std::int64_t i = begin; i < end; ++i) out[i] = scalar / data[i];
    });
    return Status{};
  };
}

}  // namespace pitwall::cpu_kernels
