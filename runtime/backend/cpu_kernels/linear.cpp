#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/cpu_kernels/parallel_for.h"
#include "runtime/backend/cpu_kernels/share_layout.h"

namespace pitwall::cpu_kernels {

RunFunction make(const LinearDesc& desc, const Request& r, Signature& s) {
  shareLayout(r.inputs[0], desc.shift == 0, s);
  const std::int64_t n = storedElements(s.inputs[0]), parallel_from = r.options.parallel_elements;
  return [=](const KernelArgs& args) {
    const float* data = input(args, 0);
    float* out = output(args, 0);
    parallelFor(n, {parallel_from, args}, [=](std::int64_t begin, std::int64_t end) {
#pragma omp simd
      for (std::int64_t i = begin; i < end; ++i) out[i] = desc.scale * data[i] + desc.shift;
    });
    return Status{};
  };
}

}  // namespace pitwall::cpu_kernels
