// What follows a product or a convolution that a library computed, where the library has not fused it: bias, addend, activation.
#pragma once

#include "runtime/backend/gpu_kernels/channel_sums.h"
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

// The gradient of a bias with channels last.
struct ChannelValue {
  const float* x;
  PITWALL_DEVICE void operator()(std::int64_t i, std::int64_t, double* sums) const {
    sums[0] += static_cast<double>(x[i]);
  }
};

struct ChannelTotal {
  ChannelParts z;
  const double* parts;
  float* to;
  template <class Team>
  PITWALL_DEVICE void operator()(Team& team, std::int64_t c) const {
    const double sum = z.total(team, parts, 0, c);
    if (team.isFirst()) to[c] = static_cast<float>(sum);
  }
};

}  // namespace pitwall::gpu_kernels
