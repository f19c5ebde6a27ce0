// What follows a product or a convolution that a library computed, where the library has not fused it: bias, addend, activation.
#pragma once

#include "runtime/backend/gpu_kernels/functions.h"

namespace pitwall::gpu_kernels {

// Each channel has `pixels` neighbours in memory; 1 with channels last, and for the columns of a matrix.
struct Epilogue {
  std::int64_t channels, pixels;
  FusedActivation activation;
  const float *from, *bias, *addend;  // bias, addend: or nullptr
  PITWALL_DEVICE float operator()(std::int64_t i) const {
    float value = from[i];
    if (bias != nullptr) value += bias[remainderOf(quotientOf(i, pixels), channels)];
    if (addend != nullptr) value += addend[i];
    return activated(activation, value);
  }
};

}  // namespace pitwall::gpu_kernels
