// All weights of a call in one parallel region, so that a small bias does not need a separate one.
#include "runtime/backend/cpu_kernels/operators.h"
#include "runtime/backend/cpu_kernels/parallel_for.h"

namespace pitwall::cpu_kernels {
namespace {

struct Step {
  float rate, rescale, weight_decay, momentum;
};

void descend(const Step& step, const float* gradient, float* weight, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    weight[i] -= step.rate * (step.rescale * gradient[i] + step.weight_decay * weight[i]);
  }
}

void descendWithMomentum(const Step& step, const float* gradient, float* weight, float* momentum,
                         std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const float g = step.rescale * gradient[i] + step.weight_decay * weight[i];
    momentum[i] = step.momentum * momentum[i] - step.rate * g;
    weight[i] += momentum[i];
  }
}

}  // namespace

// Weight, gradient and momentum share the gradient's layout; zeros of padding stay zero.
RunFunction make(const SgdDesc& desc, const Request& r, Signature& s) {
  const std::size_t count = s.inputs.size();
  std::vector<std::int64_t> ends;  // of each weight, in the concatenation of all
  for (std::size_t i = 0; i < count; ++i) {
    s.inputs[i].layout = s.outputs[i].layout = r.inputs[i].layout;
    if (desc.momentum != 0) s.outputs[count + i].layout = r.inputs[i].layout;
    ends.push_back((ends.empty() ? 0 : ends.back()) + storedElements(s.inputs[i]));
  }
  return [desc, ends, parallel_from = r.options.parallel_elements](const KernelArgs& a) {
    const Step step{a.rate, a.rescale, desc.weight_decay, desc.momentum};
    parallelFor(ends.back(), {parallel_from, a}, [&](std::int64_t begin, std::int64_t end) {
      auto w = static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), begin) - ends.begin());
      while (begin < end) {
        const std::int64_t first = w == 0 ? 0 : ends[w - 1], stop = std::min(end, ends[w]);
        const std::int64_t at = begin - first, n = stop - begin;
        if (desc.momentum == 0) {
          descend(step, input(a, w) + at, output(a, w) + at, n);
        } else {
          descendWithMomentum(step, input(a, w) + at, output(a, w) + at, output(a, ends.size() + w) + at, n);
        }
        begin = stop;
        ++w;
      }
    });
    return Status{};
  };
}

}  // namespace pitwall::cpu_kernels
