// The updates of weights: SGD, NAG, Adam.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "runtime/backend/gpu_kernels/elements.h"
#include "runtime/backend/gpu_kernels/functions.h"
#include "runtime/operators.h"

namespace pitwall::gpu_kernels {

// The arrays of several weights, whose elements are counted one after the other.
template <class E>
struct UpdatedArrays {
  static constexpr int kMost = 12;
  int count;
  std::int64_t ends[kMost];
  const E* gradient[kMost];
  float *weight[kMost], *states[2][kMost];  // states: as many as the optimizer has
  E* copy[kMost];                           // nullptr but in multi-precision
};

// One element.
struct UpdatedElement {
  float gradient, weight, states[2];
};

// rule(element) changes it.
template <class E, class Rule>
struct UpdateWeights {
  UpdatedArrays<E> arrays;
  Rule rule;
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    int w = 0;
    while (i >= arrays.ends[w]) ++w;
    if (w > 0) i -= arrays.ends[w - 1];
    float* const weight = arrays.weight[w];
    UpdatedElement e{loaded(arrays.gradient[w][i]), weight[i], {}};
    for (int s = 0; s < Rule::kStates; ++s) e.states[s] = arrays.states[s][w][i];
    rule(e);
    weight[i] = e.weight;
    for (int s = 0; s < Rule::kStates; ++s) arrays.states[s][w][i] = e.states[s];
    if (arrays.copy[w] != nullptr) arrays.copy[w][i] = stored<E>(e.weight);
  }
};

struct SgdRule {
  static constexpr int kStates = 0;
  float rate, rescale, decay;
  PITWALL_DEVICE void operator()(UpdatedElement& e) const {
    e.weight -= rate * (rescale * e.gradient + decay * e.weight);
  }
};

struct MomentumRule {
  static constexpr int kStates = 1;
  float rate, rescale, decay, momentum;
  PITWALL_DEVICE void operator()(UpdatedElement& e) const {
    e.states[0] = momentum * e.states[0] - rate * (rescale * e.gradient + decay * e.weight);
    e.weight += e.states[0];
  }
};

struct NagRule {
  static constexpr int kStates = 1;
  float rate, rescale, decay, momentum;
  PITWALL_DEVICE void operator()(UpdatedElement& e) const {
    const float down = rate * (rescale * e.gradient + decay * e.weight);
    e.states[0] = momentum * e.states[0] - down;
    e.weight += momentum * e.states[0] - down;
  }
};

struct AdamRule {
  static constexpr int kStates = 2;
  float rate, rescale, decay, beta1, beta2, epsilon;
  PITWALL_DEVICE void operator()(UpdatedElement& e) const {
    const float g = rescale * e.gradient + decay * e.weight;
    e.states[0] = beta1 * e.states[0] + (1 - beta1) * g;
    e.states[1] = beta2 * e.states[1] + (1 - beta2) * g * g;
    e.weight -= rate * e.states[0] / (sqrtf(e.states[1]) + epsilon);
  }
};

inline std::vector<std::int64_t> sizesOf(const Signature& s) {
  std::vector<std::int64_t> sizes;
  for (const TensorSpec& gradient : s.inputs) sizes.push_back(gradient.shape.elements());
  return sizes;
}

// As many weights by one launch as their list has room for: a launch takes as long as the update of a small weight.
template <class E, class L, class Rule>
Status updateWeights(const KernelArgs& a, const std::vector<std::int64_t>& sizes, bool copies,
                     const Rule& rule) {
  L launch(a.context);
  using Arrays = UpdatedArrays<E>;
  const std::size_t count = sizes.size();
  for (std::size_t first = 0; first < count; first += Arrays::kMost) {
    Arrays arrays{};
    std::int64_t elements = 0;
    for (std::size_t w = first; w < std::min<std::size_t>(count, first + Arrays::kMost); ++w) {
      const int at = arrays.count++;
      arrays.ends[at] = elements += sizes[w];
      arrays.gradient[at] = arrayIn<E>(a, w).at;
      arrays.weight[at] = output(a, w);
      for (int s = 0; s < Rule::kStates; ++s)
        arrays.states[s][at] = output(a, (static_cast<std::size_t>(s) + 1) * count + w);
      if (copies) arrays.copy[at] = arrayOut<E>(a, a.outputs.size() - count + w);
    }
    launch.each(elements, UpdateWeights<E, Rule>{arrays, rule});
  }
  return launch.status();
}

template <class L, class E>
GpuFunction makeOf(const SgdDesc& d, Pass, Signature& s) {
  return [d, sizes = sizesOf(s)](const KernelArgs& a) {
    if (d.momentum == 0)
      return updateWeights<E, L>(a, sizes, d.multi_precision, SgdRule{a.rate, a.rescale, d.weight_decay});
    return updateWeights<E, L>(a, sizes, d.multi_precision,
                               MomentumRule{a.rate, a.rescale, d.weight_decay, d.momentum});
  };
}
PITWALL_FOR_ELEMENTS(SgdDesc)

template <class L, class E>
GpuFunction makeOf(const NagDesc& d, Pass, Signature& s) {
  return [d, sizes = sizesOf(s)](const KernelArgs& a) {
    return updateWeights<E, L>(a, sizes, d.multi_precision,
                               NagRule{a.rate, a.rescale, d.weight_decay, d.momentum});
  };
}
PITWALL_FOR_ELEMENTS(NagDesc)

template <class L, class E>
GpuFunction makeOf(const AdamDesc& d, Pass, Signature& s) {
  return [d, sizes = sizesOf(s)](const KernelArgs& a) {
    return updateWeights<E, L>(a, sizes, d.multi_precision,
                               AdamRule{a.rate, a.rescale, d.weight_decay, d.beta1, d.beta2, d.epsilon});
  };
}
PITWALL_FOR_ELEMENTS(AdamDesc)

}  // namespace pitwall::gpu_kernels
