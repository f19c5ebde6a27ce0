// What follows a product or a convolution that a library computed, where the library has not fused it: bias, addend, activation.
#pragma once

#include "runtime/backend/gpu_kernels/elements.h"
#include "runtime/backend/gpu_kernels/functions.h"

namespace pitwall::gpu_kernels {

// Each channel has `pixels` neighbours in memory; 1 with channels last, and for the columns of a matrix.
template <class E>
struct Epilogue {
  std::int64_t channels, pixels;
  FusedActivation activation;
  In<E> from, bias, addend;  // bias, addend: or nullptr
  PITWALL_DEVICE float operator()(std::int64_t i) const {
    float value = from[i];
    if (bias.at != nullptr) value += bias[remainderOf(quotientOf(i, pixels), channels)];
    if (addend.at != nullptr) value += addend[i];
    return activated(activation, value);
  }
};

}  // namespace pitwall::gpu_kernels
