// The updates of weights: SGD, NAG, Adam.
#pragma once

#include <vector>

#include "runtime/backend/gpu_kernels/functions.h"
#include "runtime/operators.h"

namespace pitwall::gpu_kernels {

struct SgdUpdate {
  float rate, rescale, decay, momentum;
  const float* gradient;
  float *weight, *state;  // state: nullptr without momentum
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    const float g = rescale * gradient[i] + decay * weight[i];
    float step = -rate * g;
    if (state != nullptr) {
      step += momentum * state[i];
      state[i] = step;
    }
    weight[i] += step;
  }
};

struct NagUpdate {
  float rate, rescale, decay, momentum;
  const float* gradient;
  float *weight, *state;
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    const float g = rescale * gradient[i] + decay * weight[i];
    const float m = momentum * state[i] - rate * g;
    state[i] = m;
    weight[i] += momentum * m - rate * g;
  }
};

struct AdamUpdate {
  float rate, rescale, decay, beta1, beta2, epsilon;
  const float* gradient;
  float *weight, *mean, *variance;
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    const float g = rescale * gradient[i] + decay * weight[i];
    const float m = beta1 * mean[i] + (1 - beta1) * g, v = beta2 * variance[i] + (1 - beta2) * g * g;
    mean[i] = m;
    variance[i] = v;
    weight[i] -= rate * m / (sqrtf(v) + epsilon);
  }
};

inline std::vector<std::int64_t> sizesOf(const Signature& s) {
  std::vector<std::int64_t> sizes;
  for (const TensorSpec& gradient : s.inputs) sizes.push_back(gradient.shape.elements());
  return sizes;
}

template <class L>
GpuFunction make(const SgdDesc& d, Pass, Signature& s) {
  return [d, sizes = sizesOf(s)](const KernelArgs& a) {
    L launch(a.context);
    for (std::size_t w = 0; w < sizes.size(); ++w) {
      float* const state = d.momentum != 0 ? output(a, sizes.size() + w) : nullptr;
      launch.each(sizes[w],
                  SgdUpdate{a.rate, a.rescale, d.weight_decay, d.momentum, input(a, w), output(a, w), state});
    }
    return launch.status();
  };
}

template <class L>
GpuFunction make(const NagDesc& d, Pass, Signature& s) {
  return [d, sizes = sizesOf(s)](const KernelArgs& a) {
    L launch(a.context);
    for (std::size_t w = 0; w < sizes.size(); ++w) {
      launch.each(sizes[w], NagUpdate{a.rate, a.rescale, d.weight_decay, d.momentum, input(a, w),
                                      output(a, w), output(a, sizes.size() + w)});
    }
    return launch.status();
  };
}

template <class L>
GpuFunction make(const AdamDesc& d, Pass, Signature& s) {
  return [d, sizes = sizesOf(s)](const KernelArgs& a) {
    L launch(a.context);
    const std::size_t count = sizes.size();
    for (std::size_t w = 0; w < count; ++w) {
      launch.each(sizes[w],
                  AdamUpdate{a.rate, a.rescale, d.weight_decay, d.beta1, d.beta2, d.epsilon, input(a, w),
                             output(a, w), output(a, count + w), output(a, 2 * count + w)});
    }
    return launch.status();
  };
}

}  // namespace pitwall::gpu_kernels
