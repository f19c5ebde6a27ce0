#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/cpu_kernels/update_weights.h"

namespace pitwall::cpu_kernels {

RunFunction make(const NagDesc& desc, const Request& r, Signature& s) {
  return updateFunction(1, r, s, [desc](const KernelArgs& a, const UpdatedPart& p) {
    const float rate = a.rate, rescale = a.rescale, decay = desc.weight_decay, kept = desc.momentum;
    float* const momentum = p.states[0];
#pragma omp simd
    for (std::int64_t i = 0; i < p.elements; ++i) {
      const float down = rate * (rescale * p.gradient[i] + decay * p.weight[i]);
      momentum[i] = kept * momentum[i] - down;
      p.weight[i] += kept * momentum[i] - down;
    }
  });
}

}  // namespace pitwall::cpu_kernels
