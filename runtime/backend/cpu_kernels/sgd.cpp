#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/cpu_kernels/update_weights.h"

namespace pitwall::cpu_kernels {
namespace {

void descend(const SgdDesc& desc, const KernelArgs& a, const UpdatedPart& p) {
  const float rate = a.rate, rescale = a.rescale, decay = desc.weight_decay;
#pragma omp simd
  for (std::int64_t i = 0; i < p.elements; ++i)
    p.weight[i] -= rate * (rescale * p.gradient[i] + decay * p.weight[i]);
}

void descendWithMomentum(const SgdDesc& desc, const KernelArgs& a, const UpdatedPart& p) {
  const float rate = a.rate, rescale = a.rescale, decay = desc.weight_decay, kept = desc.momentum;
  float* const momentum = p.states[0];
#pragma omp simd
  for (std::int64_t i = 0; i < p.elements; ++i) {
    const float g = rescale * p.gradient[i] + decay * p.weight[i];
    momentum[i] = kept * momentum[i] - rate * g;
    p.weight[i] += momentum[i];
  }
}

}  // namespace

RunFunction make(const SgdDesc& desc, const Request& r, Signature& s) {
  if (desc.momentum == 0)
    return updateFunction(0, r, s,
                          [desc](const KernelArgs& a, const UpdatedPart& part) { descend(desc, a, part); });
  return updateFunction(
      1, r, s, [desc](const KernelArgs& a, const UpdatedPart& part) { descendWithMomentum(desc, a, part); });
}

}  // namespace pitwall::cpu_kernels
