// The updates of weights: SGD, NAG, Adam.
#pragma once

#include <vector>

#include "runtime/backend/gpu_kernels/elements.h"
#include "runtime/backend/gpu_kernels/functions.h"
#include "runtime/operators.h"

namespace pitwall::gpu_kernels {

template <class E>
struct SgdUpdate {
  float rate, rescale, decay, momentum;
  In<E> gradient;
  float *weight, *state;  // state: nullptr without momentum
  E* copy;                // nullptr but in multi-precision
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    const float g = rescale * gradient[i] + decay * weight[i];
    float step = -rate * g;
    if (state != nullptr) {
      step += momentum * state[i];
      state[i] = step;
    }
    weight[i] += step;
    if (copy != nullptr) copy[i] = stored<E>(weight[i]);
  }
};

template <class E>
struct NagUpdate {
  float rate, rescale, decay, momentum;
  In<E> gradient;
  float *weight, *state;
  E* copy;
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    const float g = rescale * gradient[i] + decay * weight[i];
    const float m = momentum * state[i] - rate * g;
    state[i] = m;
    weight[i] += momentum * m - rate * g;
    if (copy != nullptr) copy[i] = stored<E>(weight[i]);
  }
};

template <class E>
struct AdamUpdate {
  float rate, rescale, decay, beta1, beta2, epsilon;
  In<E> gradient;
  float *weight, *mean, *variance;
  E* copy;
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    const float g = rescale * gradient[i] + decay * weight[i];
    const float m = beta1 * mean[i] + (1 - beta1) * g, v = beta2 * variance[i] + (1 - beta2) * g * g;
    mean[i] = m;
    variance[i] = v;
    weight[i] -= rate * m / (sqrtf(v) + epsilon);
    if (copy != nullptr) copy[i] = stored<E>(weight[i]);
  }
};

inline std::vector<std::int64_t> sizesOf(const Signature& s) {
  std::vector<std::int64_t> sizes;
  for (const TensorSpec& gradient : s.inputs) sizes.push_back(gradient.shape.elements());
  return sizes;
}

// In multi-precision the last outputs are the weights in the gradients' type.
template <class E, class D>
E* copyOf(const D& d, const KernelArgs& a, std::size_t weights, std::size_t w) {
  return d.multi_precision ? arrayOut<E>(a, a.outputs.size() - weights + w) : nullptr;
}

template <class L, class E>
GpuFunction makeOf(const SgdDesc& d, Pass, Signature& s) {
  return [d, sizes = sizesOf(s)](const KernelArgs& a) {
    L launch(a.context);
    for (std::size_t w = 0; w < sizes.size(); ++w) {
      float* const state = d.momentum != 0 ? output(a, sizes.size() + w) : nullptr;
      launch.each(sizes[w], SgdUpdate<E>{a.rate, a.rescale, d.weight_decay, d.momentum, arrayIn<E>(a, w),
                                         output(a, w), state, copyOf<E>(d, a, sizes.size(), w)});
    }
    return launch.status();
  };
}
PITWALL_FOR_ELEMENTS(SgdDesc)

template <class L, class E>
GpuFunction makeOf(const NagDesc& d, Pass, Signature& s) {
  return [d, sizes = sizesOf(s)](const KernelArgs& a) {
    L launch(a.context);
    for (std::size_t w = 0; w < sizes.size(); ++w) {
      launch.each(sizes[w],
                  NagUpdate<E>{a.rate, a.rescale, d.weight_decay, d.momentum, arrayIn<E>(a, w), output(a, w),
                               output(a, sizes.size() + w), copyOf<E>(d, a, sizes.size(), w)});
    }
    return launch.status();
  };
}
PITWALL_FOR_ELEMENTS(NagDesc)

template <class L, class E>
GpuFunction makeOf(const AdamDesc& d, Pass, Signature& s) {
  return [d, sizes = sizesOf(s)](const KernelArgs& a) {
    L launch(a.context);
    const std::size_t count = sizes.size();
    for (std::size_t w = 0; w < count; ++w) {
      launch.each(sizes[w], AdamUpdate<E>{a.rate, a.rescale, d.weight_decay, d.beta1, d.beta2, d.epsilon,
                                          arrayIn<E>(a, w), output(a, w), output(a, count + w),
                                          output(a, 2 * count + w), copyOf<E>(d, a, count, w)});
    }
    return launch.status();
  };
}
PITWALL_FOR_ELEMENTS(AdamDesc)

}  // namespace pitwall::gpu_kernels
