#include <cmath>

#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/cpu_kernels/update_weights.h"

namespace pitwall::cpu_kernels {

RunFunction make(const AdamDesc& desc, const Request& r, Signature& s) {
  return updateFunction(2, r, s, [desc](const KernelArgs& a, const UpdatedPart& p) {
    const float rate = a.rate, rescale = a.rescale, decay = desc.weight_decay;
    const float beta1 = desc.beta1, beta2 = desc.beta2, epsilon = desc.epsilon;
    float *const mean = p.states[0], *const variance = p.states[1];
#pragma omp simd
    for (std::int64_t i = 0; i < p.elements; ++i) {
      const float g = rescale * p.gradient[i] + decay * p.weight[i];
      mean[i] = beta1 * mean[i] + (1 - beta1) * g;
      variance[i] = beta2 * variance[i] + (1 - beta2) * g * g;
      p.weight[i] -= rate * mean[i] / (std::sqrt(variance[i]) + epsilon);
    }
  });
}

}  // namespace pitwall::cpu_kernels
