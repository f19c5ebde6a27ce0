// Normalisation of each pixel over neighbouring channels.
#pragma once

#include <cmath>

#include "runtime/backend/gpu_kernels/functions.h"
#include "runtime/operators.h"

namespace pitwall::gpu_kernels {

struct LrnPlace {
  std::int64_t channels, pixels, half;  // half: of the window, without the channel itself
  float factor, knorm, beta;            // factor: alpha / nsize
  PITWALL_DEVICE std::int64_t channelOf(std::int64_t i) const { return i / pixels % channels; }
  PITWALL_DEVICE std::int64_t first(std::int64_t c) const { return c > half ? c - half : 0; }
  PITWALL_DEVICE std::int64_t last(std::int64_t c) const {
    return c + half + 1 < channels ? c + half + 1 : channels;
  }
  PITWALL_DEVICE float norm(const float* x, std::int64_t i) const {
    const std::int64_t c = channelOf(i);
    float sum = 0;
    for (std::int64_t k = first(c); k < last(c); ++k) {
      const float value = x[i + (k - c) * pixels];
      sum += value * value;
    }
    return knorm + factor * sum;
  }
};

struct Lrn {
  LrnPlace z;
  const float* x;
  float* y;
  PITWALL_DEVICE void operator()(std::int64_t i) const { y[i] = x[i] * powf(z.norm(x, i), -z.beta); }
};

struct LrnGradient {
  LrnPlace z;
  const float *x, *dy;
  float* dx;
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t c = z.channelOf(i);
    float sum = 0;
    for (std::int64_t k = z.first(c); k < z.last(c); ++k) {
      const std::int64_t other = i + (k - c) * z.pixels;
      sum += dy[other] * x[other] * powf(z.norm(x, other), -z.beta - 1);
    }
    dx[i] = dy[i] * powf(z.norm(x, i), -z.beta) - 2 * z.beta * z.factor * x[i] * sum;
  }
};

// The norms are computed again for the gradient: the workspace is not used.
template <class L>
GpuFunction make(const LrnDesc& d, Pass pass, Signature& s) {
  const Shape& data = s.inputs[0].shape;
  const LrnPlace z{data[1], data[2] * data[3], d.nsize / 2, d.alpha / static_cast<float>(d.nsize), d.knorm,
                   d.beta};
  return [=, n = data.elements()](const KernelArgs& a) {
    L launch(a.context);
    if (pass == Pass::backward)
      launch.each(n, LrnGradient{z, input(a, 0), input(a, 1), output(a, 0)});
    else
      launch.each(n, Lrn{z, input(a, 0), output(a, 0)});
    return launch.status();
  };
}

}  // namespace pitwall::gpu_kernels
