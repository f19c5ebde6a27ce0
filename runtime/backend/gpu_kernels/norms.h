// Normalisation of images: BatchNorm, LRN.
#pragma once

#include <algorithm>
#include <cmath>

#include "runtime/backend/gpu_kernels/channel_sums.h"
#include "runtime/backend/gpu_kernels/channels_last.h"
#include "runtime/backend/gpu_kernels/functions.h"
#include "runtime/operators.h"

namespace pitwall::gpu_kernels {

struct BatchNormStatistics {
  ChannelParts z;
  float momentum;
  const double* parts;  // of x and of its square
  float *mean, *variance, *running_mean, *running_variance;
  template <class Team>
  PITWALL_DEVICE void operator()(Team& team, std::int64_t c) const {
    const double n = static_cast<double>(z.count);
    const double centre = z.total(team, parts, 0, c) / n;
    const double square = z.total(team, parts, 1, c) / n - centre * centre;
    if (!team.isFirst()) return;
    const double spread = square > 0 ? square : 0, m = static_cast<double>(momentum);
    mean[c] = static_cast<float>(centre);
    variance[c] = static_cast<float>(spread);
    running_mean[c] = static_cast<float>(m * static_cast<double>(running_mean[c]) + (1 - m) * centre);
    running_variance[c] = static_cast<float>(m * static_cast<double>(running_variance[c]) + (1 - m) * spread);
  }
};

template <class E>
struct ValueAndSquare {
  In<E> x;
  PITWALL_DEVICE void operator()(std::int64_t i, std::int64_t, double* sums) const {
    const double value = static_cast<double>(x[i]);
    sums[0] += value;
    sums[1] += value * value;
  }
};

template <class E>
struct BatchNormApply {
  ChannelPlace z;
  float epsilon;
  bool fix_gamma, relu;
  In<E> x;
  const float *gamma, *beta, *mean, *variance;
  PITWALL_DEVICE float operator()(std::int64_t i) const {
    const std::int64_t c = z.channelOf(i);
    const float scale = (fix_gamma ? 1.0F : gamma[c]) * inverseRootOf(variance[c] + epsilon);
    const float value = (x[i] - mean[c]) * scale + beta[c];
    return relu && value < 0 ? 0 : value;
  }
};

struct CopyTwo {
  const float *a, *b;
  float *to_a, *to_b;
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    to_a[i] = a[i];
    to_b[i] = b[i];
  }
};

// Of the gradient: that of the output, and its product with the centred data.
template <class E>
struct BatchNormTerms {
  In<E> x, dy;
  const float* mean;
  PITWALL_DEVICE void operator()(std::int64_t i, std::int64_t c, double* sums) const {
    const double head = static_cast<double>(dy[i]);
    sums[0] += head;
    sums[1] += head * (static_cast<double>(x[i]) - static_cast<double>(mean[c]));
  }
};

struct BatchNormSums {
  ChannelParts z;
  double epsilon;
  bool fix_gamma;
  const double* parts;
  const float* variance;
  float *dgamma, *dbeta, *sum;  // sum: that of dgamma where gamma is fixed too
  template <class Team>
  PITWALL_DEVICE void operator()(Team& team, std::int64_t c) const {
    const double plain = z.total(team, parts, 0, c);
    const double by_normal = z.total(team, parts, 1, c) / sqrt(static_cast<double>(variance[c]) + epsilon);
    if (!team.isFirst()) return;
    sum[c] = static_cast<float>(by_normal);
    dgamma[c] = fix_gamma ? 0 : static_cast<float>(by_normal);
    dbeta[c] = static_cast<float>(plain);
  }
};

template <class E>
struct BatchNormGradient {
  ChannelPlace z;
  float share;  // of one element: 1 / their number
  float epsilon;
  bool fix_gamma, global;
  In<E> x, dy;
  const float *gamma, *mean, *variance, *dbeta, *sum;
  PITWALL_DEVICE float operator()(std::int64_t i) const {
    const std::int64_t c = z.channelOf(i);
    const float inverse = inverseRootOf(variance[c] + epsilon), normal = (x[i] - mean[c]) * inverse;
    const float through = global ? 0.0F : (dbeta[c] + normal * sum[c]) * share;
    return (fix_gamma ? 1.0F : gamma[c]) * inverse * (dy[i] - through);
  }
};

template <class L, class E>
GpuFunction batchNormGradient(const BatchNormDesc& d, const ChannelPlace& z, std::int64_t n, Signature& s) {
  const std::int64_t count = n / z.channels;
  const ChannelParts parts(z, count);
  const Bytes before = parts.sizeBytes(2);
  s.workspace_bytes = before + z.channels * 4;
  return [=](const KernelArgs& a) {
    L launch(a.context);
    auto* const sums = static_cast<double*>(a.context.workspace);
    auto* const sum = static_cast<float*>(a.context.workspace) + before / 4;
    sumParts<2>(launch, parts, BatchNormTerms<E>{arrayIn<E>(a, 0), arrayIn<E>(a, 4), input(a, 2)}, sums);
    launch.rows(z.channels, parts.parts,
                BatchNormSums{parts, static_cast<double>(d.epsilon), d.fix_gamma, sums, input(a, 3),
                              output(a, 1), output(a, 2), sum});
    launch.map(n, arrayOut<E>(a, 0),
               BatchNormGradient<E>{z, 1.0F / static_cast<float>(count), d.epsilon, d.fix_gamma,
                                    d.use_global_stats, arrayIn<E>(a, 0), arrayIn<E>(a, 4), input(a, 1),
                                    input(a, 2), input(a, 3), output(a, 2), sum});
    return launch.status();
  };
}

template <class L, class E>
GpuFunction makeOf(const BatchNormDesc& d, Pass pass, Signature& s) {
  const Shape& data = s.inputs[0].shape;
  const std::int64_t n = data.elements(), channels = data[1];
  const ChannelPlace z{channels, n / (data[0] * channels), isChannelsLast(s.inputs[0])};
  if (pass == Pass::backward) return batchNormGradient<L, E>(d, z, n, s);
  if (pass == Pass::inference)
    return [=](const KernelArgs& a) {
      L launch(a.context);
      launch.map(n, arrayOut<E>(a, 0),
                 BatchNormApply<E>{z, d.epsilon, d.fix_gamma, d.relu, arrayIn<E>(a, 0), input(a, 1),
                                   input(a, 2), input(a, 3), input(a, 4)});
      return launch.status();
    };
  const ChannelParts parts(z, n / channels);
  s.workspace_bytes = parts.sizeBytes(2);
  return [=](const KernelArgs& a) {
    L launch(a.context);
    if (d.use_global_stats) {
      launch.each(channels, CopyTwo{output(a, 3), output(a, 4), output(a, 1), output(a, 2)});
    } else {
      auto* const sums = static_cast<double*>(a.context.workspace);
      sumParts<2>(launch, parts, ValueAndSquare<E>{arrayIn<E>(a, 0)}, sums);
      launch.rows(channels, parts.parts,
                  BatchNormStatistics{parts, d.momentum, sums, output(a, 1), output(a, 2), output(a, 3),
                                      output(a, 4)});
    }
    launch.map(n, arrayOut<E>(a, 0),
               BatchNormApply<E>{z, d.epsilon, d.fix_gamma, false, arrayIn<E>(a, 0), input(a, 1), input(a, 2),
                                 output(a, 1), output(a, 2)});
    return launch.status();
  };
}
PITWALL_FOR_ELEMENTS(BatchNormDesc)

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
