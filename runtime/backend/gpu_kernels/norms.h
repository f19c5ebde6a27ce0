// Normalisation of images: BatchNorm, LRN.
//
// With channels last, neighbours in memory are of different channels: threads beside each other then each sum one channel over a
// part of the rows, and the sums of the parts are added in a second step.
#pragma once

#include <algorithm>
#include <cmath>

#include "runtime/backend/gpu_kernels/channel_sums.h"
#include "runtime/backend/gpu_kernels/channels_last.h"
#include "runtime/backend/gpu_kernels/functions.h"
#include "runtime/operators.h"

namespace pitwall::gpu_kernels {

// The i-th of a channel's elements.
struct ChannelPlace {
  std::int64_t channels, pixels;
  bool channels_last;
  PITWALL_DEVICE std::int64_t at(std::int64_t channel, std::int64_t i) const {
    return channels_last ? i * channels + channel : (i / pixels * channels + channel) * pixels + i % pixels;
  }
  PITWALL_DEVICE std::int64_t channelOf(std::int64_t i) const {
    return channels_last ? remainderOf(i, channels) : remainderOf(quotientOf(i, pixels), channels);
  }
};

struct BatchNormStatistics {
  ChannelPlace z;
  std::int64_t count;
  float momentum;
  const float* x;
  float *mean, *variance, *running_mean, *running_variance;
  template <class Team>
  PITWALL_DEVICE void operator()(Team& team, std::int64_t c) const {
    const double n = static_cast<double>(count);
    const double centre =
        team.sum(count, [=, this](std::int64_t i) { return static_cast<double>(x[z.at(c, i)]); }) / n;
    const double spread = team.sum(count, [=, this](std::int64_t i) {
      const double d = static_cast<double>(x[z.at(c, i)]) - centre;
      return d * d;
    }) / n;
    if (!team.isFirst()) return;
    const double m = static_cast<double>(momentum);
    mean[c] = static_cast<float>(centre);
    variance[c] = static_cast<float>(spread);
    running_mean[c] = static_cast<float>(m * static_cast<double>(running_mean[c]) + (1 - m) * centre);
    running_variance[c] = static_cast<float>(m * static_cast<double>(running_variance[c]) + (1 - m) * spread);
  }
};

// The same from the sums of parts.
struct BatchNormStatisticsOfParts {
  ChannelParts z;
  float momentum;
  const double* parts;  // of x and of its square
  float *mean, *variance, *running_mean, *running_variance;
  template <class Team>
  PITWALL_DEVICE void operator()(Team& team, std::int64_t c) const {
    const double n = static_cast<double>(z.rows);
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

struct ValueAndSquare {
  const float* x;
  PITWALL_DEVICE void operator()(std::int64_t i, std::int64_t, double* sums) const {
    const double value = static_cast<double>(x[i]);
    sums[0] += value;
    sums[1] += value * value;
  }
};

struct BatchNormApply {
  ChannelPlace z;
  float epsilon;
  bool fix_gamma, relu;
  const float *x, *gamma, *beta, *mean, *variance;
  float* y;
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t c = z.channelOf(i);
    const float scale = (fix_gamma ? 1.0F : gamma[c]) / sqrtf(variance[c] + epsilon);
    const float value = (x[i] - mean[c]) * scale + beta[c];
    y[i] = relu && value < 0 ? 0 : value;
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

struct BatchNormSums {
  ChannelPlace z;
  std::int64_t count;
  double epsilon;
  bool fix_gamma;
  const float *x, *mean, *variance, *dy;
  float *dgamma, *dbeta, *sum;  // sum: that of dgamma where gamma is fixed too
  template <class Team>
  PITWALL_DEVICE void operator()(Team& team, std::int64_t c) const {
    const double centre = static_cast<double>(mean[c]);
    const double inverse = 1 / sqrt(static_cast<double>(variance[c]) + epsilon);
    const double by_normal = team.sum(count, [=, this](std::int64_t i) {
      const std::int64_t at = z.at(c, i);
      return static_cast<double>(dy[at]) * (static_cast<double>(x[at]) - centre) * inverse;
    });
    const double plain =
        team.sum(count, [=, this](std::int64_t i) { return static_cast<double>(dy[z.at(c, i)]); });
    if (!team.isFirst()) return;
    sum[c] = static_cast<float>(by_normal);
    dgamma[c] = fix_gamma ? 0 : static_cast<float>(by_normal);
    dbeta[c] = static_cast<float>(plain);
  }
};

// The terms of BatchNormSums, one element.
struct BatchNormTerms {
  const float *x, *mean, *dy;
  PITWALL_DEVICE void operator()(std::int64_t i, std::int64_t c, double* sums) const {
    const double head = static_cast<double>(dy[i]);
    sums[0] += head;
    sums[1] += head * (static_cast<double>(x[i]) - static_cast<double>(mean[c]));
  }
};

struct BatchNormSumsOfParts {
  ChannelParts z;
  double epsilon;
  bool fix_gamma;
  const double* parts;
  const float* variance;
  float *dgamma, *dbeta, *sum;
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

struct BatchNormGradient {
  ChannelPlace z;
  std::int64_t count;
  float epsilon;
  bool fix_gamma, global;
  const float *x, *gamma, *mean, *variance, *dy, *dbeta, *sum;
  float* dx;
  PITWALL_DEVICE void operator()(std::int64_t i) const {
    const std::int64_t c = z.channelOf(i);
    const float inverse = 1.0F / sqrtf(variance[c] + epsilon), normal = (x[i] - mean[c]) * inverse;
    const float through = global ? 0.0F : (dbeta[c] + normal * sum[c]) / static_cast<float>(count);
    dx[i] = (fix_gamma ? 1.0F : gamma[c]) * inverse * (dy[i] - through);
  }
};

template <class L>
GpuFunction batchNormGradient(const BatchNormDesc& d, const ChannelPlace& z, std::int64_t n, Signature& s) {
  const std::int64_t count = n / z.channels;
  const ChannelParts parts(count, z.channels);
  const Bytes before = parts.sizeBytes(2);
  s.workspace_bytes = (z.channels_last ? before : 0) + z.channels * 4;
  return [=](const KernelArgs& a) {
    L launch(a.context);
    const auto epsilon = static_cast<double>(d.epsilon);
    auto* sum = static_cast<float*>(a.context.workspace);
    if (z.channels_last) {
      auto* const sums = static_cast<double*>(a.context.workspace);
      sum += before / 4;
      sumParts<2>(launch, parts, BatchNormTerms{input(a, 0), input(a, 2), input(a, 4)}, sums);
      launch.rows(z.channels, parts.parts,
                  BatchNormSumsOfParts{parts, epsilon, d.fix_gamma, sums, input(a, 3), output(a, 1),
                                       output(a, 2), sum});
    } else {
      launch.rows(z.channels, count,
                  BatchNormSums{z, count, epsilon, d.fix_gamma, input(a, 0), input(a, 2), input(a, 3),
                                input(a, 4), output(a, 1), output(a, 2), sum});
    }
    launch.each(
        n, BatchNormGradient{z, count, d.epsilon, d.fix_gamma, d.use_global_stats, input(a, 0), input(a, 1),
                             input(a, 2), input(a, 3), input(a, 4), output(a, 2), sum, output(a, 0)});
    return launch.status();
  };
}

template <class L>
GpuFunction make(const BatchNormDesc& d, Pass pass, Signature& s) {
  const Shape& data = s.inputs[0].shape;
  const std::int64_t n = data.elements(), channels = data[1];
  const ChannelPlace z{channels, n / (data[0] * channels), isChannelsLast(s.inputs[0])};
  if (pass == Pass::backward) return batchNormGradient<L>(d, z, n, s);
  if (pass == Pass::inference)
    return [=](const KernelArgs& a) {
      L launch(a.context);
      launch.each(n, BatchNormApply{z, d.epsilon, d.fix_gamma, d.relu, input(a, 0), input(a, 1), input(a, 2),
                                    input(a, 3), input(a, 4), output(a, 0)});
      return launch.status();
    };
  const ChannelParts parts(n / channels, channels);
  if (z.channels_last) s.workspace_bytes = parts.sizeBytes(2);
  return [=](const KernelArgs& a) {
    L launch(a.context);
    if (d.use_global_stats) {
      launch.each(channels, CopyTwo{output(a, 3), output(a, 4), output(a, 1), output(a, 2)});
    } else if (z.channels_last) {
      auto* const sums = static_cast<double*>(a.context.workspace);
      sumParts<2>(launch, parts, ValueAndSquare{input(a, 0)}, sums);
      launch.rows(channels, parts.parts,
                  BatchNormStatisticsOfParts{parts, d.momentum, sums, output(a, 1), output(a, 2),
                                             output(a, 3), output(a, 4)});
    } else {
      launch.rows(channels, n / channels,
                  BatchNormStatistics{z, n / channels, d.momentum, input(a, 0), output(a, 1), output(a, 2),
                                      output(a, 3), output(a, 4)});
    }
    launch.each(n, BatchNormApply{z, d.epsilon, d.fix_gamma, false, input(a, 0), input(a, 1), input(a, 2),
                                  output(a, 1), output(a, 2), output(a, 0)});
    return launch.status();
  };
}

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
