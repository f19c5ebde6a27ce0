// Normalisation of each channel over the batch, and with a relu.
//
// Sums are those of the differences to one element of the channel: the variance then does not vanish beside a large mean.
#pragma once

#include <algorithm>
#include <cmath>

#include "runtime/backend/gpu_kernels/channel_sums.h"
#include "runtime/backend/gpu_kernels/channel_vectors.h"
#include "runtime/backend/gpu_kernels/channels_last.h"
#include "runtime/backend/gpu_kernels/functions.h"
#include "runtime/operators.h"

namespace pitwall::gpu_kernels {

template <class E>
struct BatchNormStatistics {
  ChannelPlace place;
  double count;  // elements of a channel
  float momentum;
  In<E> x;
  float *mean, *variance, *running_mean, *running_variance;
  PITWALL_DEVICE void operator()(std::int64_t c, const double (&sums)[2]) const {
    const double centre = sums[0] / count, square = sums[1] / count - centre * centre;
    const double spread = square > 0 ? square : 0, m = static_cast<double>(momentum);
    const double middle = static_cast<double>(x[place.at(c, 0)]) + centre;
    mean[c] = static_cast<float>(middle);
    variance[c] = static_cast<float>(spread);
    running_mean[c] = static_cast<float>(m * static_cast<double>(running_mean[c]) + (1 - m) * middle);
    running_variance[c] = static_cast<float>(m * static_cast<double>(running_variance[c]) + (1 - m) * spread);
  }
};

// Of the differences to the first element and their squares.
template <class E>
struct DifferenceAndSquare {
  ChannelPlace place;
  In<E> x;
  PITWALL_DEVICE void operator()(std::int64_t i, std::int64_t channel, double* sums) const {
    const double value = static_cast<double>(x[i] - x[place.at(channel, 0)]);
    sums[0] += value;
    sums[1] += value * value;
  }
};

template <class E>
struct DifferenceAndSquareOfVectors {
  const E* x;
  PITWALL_DEVICE OfChannels<E> of(std::int64_t channel) const {
    OfChannels<E> first;
    for (int k = 0; k < Vector<E>::kCount; ++k) first.x[k] = loaded(x[channel + k]);
    return first;
  }
  PITWALL_DEVICE Vector<E> read(std::int64_t i) const { return vectorAt(x, i); }
  template <class Sums>
  PITWALL_DEVICE void add(const OfChannels<E>& first, const Vector<E>& v, Sums& sums) const {
    for (int k = 0; k < Vector<E>::kCount; ++k) {
      const float value = v[k] - first[k];
      sums[0][k] += value;
      sums[1][k] += value * value;
    }
  }
};

// y = (x - mean) scale + beta, then perhaps a relu.
struct BatchNormLine {
  float epsilon;
  bool fix_gamma, relu;
  const float *gamma, *beta, *mean, *variance;  // beta: read for the result, and for the slope of a relu
  PITWALL_DEVICE float inverse(std::int64_t c) const { return inverseRootOf(variance[c] + epsilon); }
  PITWALL_DEVICE float scale(std::int64_t c) const { return (fix_gamma ? 1.0F : gamma[c]) * inverse(c); }
  PITWALL_DEVICE float shift(std::int64_t c) const { return beta != nullptr ? beta[c] : 0; }
};

struct BatchNormPoint {
  float mean, scale, shift;
  PITWALL_DEVICE float at(float x) const { return (x - mean) * scale + shift; }
};

PITWALL_DEVICE BatchNormPoint pointOf(const BatchNormLine& line, std::int64_t c) {
  return {line.mean[c], line.scale(c), line.shift(c)};
}

// Of the channels of a vector.
template <class E>
struct BatchNormPoints {
  BatchNormPoint of[Vector<E>::kCount];
};

template <class E>
PITWALL_DEVICE BatchNormPoints<E> pointsOf(const BatchNormLine& line, std::int64_t channel) {
  BatchNormPoints<E> points;
  for (int k = 0; k < Vector<E>::kCount; ++k) points.of[k] = pointOf(line, channel + k);
  return points;
}

template <class E>
struct BatchNormApply {
  ChannelPlace z;
  BatchNormLine line;
  In<E> x;
  PITWALL_DEVICE float operator()(std::int64_t i) const {
    const float value = pointOf(line, z.channelOf(i)).at(x[i]);
    return line.relu && value < 0 ? 0 : value;
  }
};

template <class E>
struct BatchNormApplyToVectors {
  BatchNormLine line;
  const E* x;
  PITWALL_DEVICE BatchNormPoints<E> of(std::int64_t channel) const { return pointsOf<E>(line, channel); }
  PITWALL_DEVICE Vector<E> read(std::int64_t i) const { return vectorAt(x, i); }
  PITWALL_DEVICE Vector<E> result(const BatchNormPoints<E>& own, const Vector<E>& v) const {
    Vector<E> y;
    for (int k = 0; k < Vector<E>::kCount; ++k) {
      const float value = own.of[k].at(v[k]);
      y.x[k] = stored<E>(line.relu && value < 0 ? 0.0F : value);
    }
    return y;
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
  BatchNormLine line;
  In<E> x, dy;
  PITWALL_DEVICE void operator()(std::int64_t i, std::int64_t c, double* sums) const {
    if (line.relu && !(pointOf(line, c).at(x[i]) > 0)) return;
    const double head = static_cast<double>(dy[i]);
    sums[0] += head;
    sums[1] += head * (static_cast<double>(x[i]) - static_cast<double>(line.mean[c]));
  }
};

template <class E>
struct TwoVectors {
  Vector<E> x, dy;
};

template <class E>
struct BatchNormTermsOfVectors {
  BatchNormLine line;
  const E *x, *dy;
  PITWALL_DEVICE BatchNormPoints<E> of(std::int64_t channel) const { return pointsOf<E>(line, channel); }
  PITWALL_DEVICE TwoVectors<E> read(std::int64_t i) const { return {vectorAt(x, i), vectorAt(dy, i)}; }
  template <class Sums>
  PITWALL_DEVICE void add(const BatchNormPoints<E>& own, const TwoVectors<E>& v, Sums& sums) const {
    for (int k = 0; k < Vector<E>::kCount; ++k) {
      const bool stops = line.relu && !(own.of[k].at(v.x[k]) > 0);
      const float head = stops ? 0 : v.dy[k];
      sums[0][k] += head;
      sums[1][k] += head * (v.x[k] - own.of[k].mean);
    }
  }
};

struct BatchNormSums {
  double epsilon;
  bool fix_gamma;
  const float* variance;
  float *dgamma, *dbeta, *sum;  // sum: that of dgamma where gamma is fixed too
  PITWALL_DEVICE void operator()(std::int64_t c, const double (&sums)[2]) const {
    const double by_normal = sums[1] / sqrt(static_cast<double>(variance[c]) + epsilon);
    sum[c] = static_cast<float>(by_normal);
    dgamma[c] = fix_gamma ? 0 : static_cast<float>(by_normal);
    dbeta[c] = static_cast<float>(sums[0]);
  }
};

// dx = scale (dy - through - (x - mean) by_normal), where the statistics are those of the batch.
struct BatchNormSlope {
  BatchNormLine line;
  float share;  // of one element: 1 / their number
  bool global;
  const float *dbeta, *sum;
  struct Own {
    BatchNormPoint point;
    float through, by_normal;
  };
  PITWALL_DEVICE Own of(std::int64_t c) const {
    return {pointOf(line, c), global ? 0 : dbeta[c] * share, global ? 0 : line.inverse(c) * sum[c] * share};
  }
  PITWALL_DEVICE float at(const Own& own, float x, float dy) const {
    const float head = line.relu && !(own.point.at(x) > 0) ? 0 : dy;
    return own.point.scale * (head - own.through - (x - own.point.mean) * own.by_normal);
  }
};

template <class E>
struct BatchNormGradient {
  ChannelPlace z;
  BatchNormSlope slope;
  In<E> x, dy;
  PITWALL_DEVICE float operator()(std::int64_t i) const {
    return slope.at(slope.of(z.channelOf(i)), x[i], dy[i]);
  }
};

template <class E>
struct BatchNormGradientOfVectors {
  BatchNormSlope slope;
  const E *x, *dy;
  struct Own {
    BatchNormSlope::Own of[Vector<E>::kCount];
  };
  PITWALL_DEVICE Own of(std::int64_t channel) const {
    Own own;
    for (int k = 0; k < Vector<E>::kCount; ++k) own.of[k] = slope.of(channel + k);
    return own;
  }
  PITWALL_DEVICE TwoVectors<E> read(std::int64_t i) const { return {vectorAt(x, i), vectorAt(dy, i)}; }
  PITWALL_DEVICE Vector<E> result(const Own& own, const TwoVectors<E>& v) const {
    Vector<E> dx;
    for (int k = 0; k < Vector<E>::kCount; ++k) dx.x[k] = stored<E>(slope.at(own.of[k], v.x[k], v.dy[k]));
    return dx;
  }
};

// How the elements of the channels are visited, for arrays of E.
template <class E>
struct BatchNormPlan {
  ChannelPlace place;
  std::int64_t elements, count;  // count: of a channel
  bool vectors;
  ChannelParts parts;
  ColumnPlan of_sums{};
  ChannelVectors of_maps{};

  BatchNormPlan(const ChannelPlace& p, std::int64_t n)
      : place(p),
        elements(n),
        count(n / p.channels),
        vectors(ChannelVectors::fits<E>(p)),
        parts(p, n / p.channels) {
    if (!vectors) return;
    of_sums = ColumnPlan::make(p.channels / Vector<E>::kCount, count, 32, 8, 512);
    of_maps = ChannelVectors::make<E>(p, count, 1 << 17, 4);
  }
  std::int64_t partCount() const { return vectors ? of_sums.parts : parts.parts; }
  Bytes sumBytes() const { return partCount() * place.channels * 2 * static_cast<Bytes>(sizeof(double)); }

  // The two sums of each channel; end(channel, sums) gets them. sumBytes() bytes at `between`.
  template <class L, class Term, class VectorTerm, class End>
  void sum(L& launch, const Term& term, const VectorTerm& of_vectors, double* between, const End& end) const {
    if (vectors)
      launch.columns(of_sums, VectorPartSums<E, 2, VectorTerm>{of_sums.columns, place.channels, of_sums.parts,
                                                               of_vectors, between});
    else
      sumParts<2>(launch, parts, term, between);
    totalParts<2>(launch, place.channels, partCount(), between, end);
  }
  template <class L, class Map, class MapOfVectors>
  void map(L& launch, E* to, const Map& each, const MapOfVectors& of_vectors) const {
    if (!vectors) return launch.map(elements, to, each);
    launch.each(of_maps.threads, VectorMap<E, MapOfVectors>{of_maps, of_vectors, to});
  }
};

template <class L, class E>
GpuFunction batchNormGradient(const BatchNormDesc& d, const BatchNormPlan<E>& plan, Signature& s) {
  const Bytes before = plan.sumBytes();
  s.workspace_bytes = before + plan.place.channels * 4;
  return [=](const KernelArgs& a) {
    L launch(a.context);
    auto* const sums = static_cast<double*>(a.context.workspace);
    auto* const sum = static_cast<float*>(a.context.workspace) + before / 4;
    const BatchNormLine line{d.epsilon,   d.fix_gamma, d.relu, input(a, 1), d.relu ? input(a, 5) : nullptr,
                             input(a, 2), input(a, 3)};
    const In<E> x = arrayIn<E>(a, 0), dy = arrayIn<E>(a, 4);
    plan.sum(launch, BatchNormTerms<E>{line, x, dy}, BatchNormTermsOfVectors<E>{line, x.at, dy.at}, sums,
             BatchNormSums{static_cast<double>(d.epsilon), d.fix_gamma, input(a, 3), output(a, 1),
                           output(a, 2), sum});
    const BatchNormSlope slope{line, 1.0F / static_cast<float>(plan.count), d.use_global_stats, output(a, 2),
                               sum};
    plan.map(launch, arrayOut<E>(a, 0), BatchNormGradient<E>{plan.place, slope, x, dy},
             BatchNormGradientOfVectors<E>{slope, x.at, dy.at});
    return launch.status();
  };
}

template <class L, class E>
GpuFunction makeOf(const BatchNormDesc& d, Pass pass, Signature& s) {
  const Shape& data = s.inputs[0].shape;
  const std::int64_t n = data.elements(), channels = data[1];
  const BatchNormPlan<E> plan({channels, n / (data[0] * channels), isChannelsLast(s.inputs[0])}, n);
  if (pass == Pass::backward) return batchNormGradient<L, E>(d, plan, s);
  if (pass == Pass::inference)
    return [=](const KernelArgs& a) {
      L launch(a.context);
      const BatchNormLine line{d.epsilon,   d.fix_gamma, d.relu,     input(a, 1),
                               input(a, 2), input(a, 3), input(a, 4)};
      plan.map(launch, arrayOut<E>(a, 0), BatchNormApply<E>{plan.place, line, arrayIn<E>(a, 0)},
               BatchNormApplyToVectors<E>{line, arrayIn<E>(a, 0).at});
      return launch.status();
    };
  s.workspace_bytes = plan.sumBytes();
  return [=](const KernelArgs& a) {
    L launch(a.context);
    const In<E> x = arrayIn<E>(a, 0);
    if (d.use_global_stats) {
      launch.each(channels, CopyTwo{output(a, 3), output(a, 4), output(a, 1), output(a, 2)});
    } else {
      auto* const sums = static_cast<double*>(a.context.workspace);
      plan.sum(launch, DifferenceAndSquare<E>{plan.place, x}, DifferenceAndSquareOfVectors<E>{x.at}, sums,
               BatchNormStatistics<E>{plan.place, static_cast<double>(plan.count), d.momentum, x,
                                      output(a, 1), output(a, 2), output(a, 3), output(a, 4)});
    }
    const BatchNormLine line{d.epsilon,   d.fix_gamma,  d.relu,      input(a, 1),
                             input(a, 2), output(a, 1), output(a, 2)};
    plan.map(launch, arrayOut<E>(a, 0), BatchNormApply<E>{plan.place, line, x},
             BatchNormApplyToVectors<E>{line, x.at});
    return launch.status();
  };
}
PITWALL_FOR_ELEMENTS(BatchNormDesc)

}  // namespace pitwall::gpu_kernels
