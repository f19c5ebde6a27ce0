// Normalisation of each row.
#pragma once

#include <cmath>

#include "runtime/backend/gpu_kernels/channel_sums.h"
#include "runtime/backend/gpu_kernels/functions.h"
#include "runtime/operators/layer_norm.h"

namespace pitwall::gpu_kernels {

template <class E>
struct LayerNormRow {
  std::int64_t features;
  double epsilon;
  In<E> x, gamma, beta;
  E *y, *mean, *variance;  // mean and variance: nullptr in inference
  template <class Team>
  PITWALL_DEVICE void operator()(Team& team, std::int64_t row) const {
    const std::int64_t at = row * features;
    const double n = static_cast<double>(features);
    const double centre =
        team.sum(features, [=, this](std::int64_t j) { return static_cast<double>(x[at + j]); }) / n;
    const double spread = team.sum(features, [=, this](std::int64_t j) {
      const double d = static_cast<double>(x[at + j]) - centre;
      return d * d;
    }) / n;
    const double inverse = 1 / sqrt(spread + epsilon);
    team.each(features, [=, this](std::int64_t j) {
      const double normal = (static_cast<double>(x[at + j]) - centre) * inverse;
      y[at + j] = stored<E>(static_cast<float>(normal) * gamma[j] + beta[j]);
    });
    if (mean == nullptr || !team.isFirst()) return;
    mean[row] = stored<E>(static_cast<float>(centre));
    variance[row] = stored<E>(static_cast<float>(spread));
  }
};

template <class E>
struct LayerNormGradientRow {
  std::int64_t features;
  double epsilon;
  In<E> x, gamma, mean, variance, dy;
  E* dx;
  template <class Team>
  PITWALL_DEVICE void operator()(Team& team, std::int64_t row) const {
    const std::int64_t at = row * features;
    const double centre = static_cast<double>(mean[row]), n = static_cast<double>(features);
    const double inverse = 1 / sqrt(static_cast<double>(variance[row]) + epsilon);
    const double sum =
        team.sum(features, [=, this](std::int64_t j) { return static_cast<double>(dy[at + j] * gamma[j]); });
    const double sum_normal = team.sum(features, [=, this](std::int64_t j) {
      return static_cast<double>(dy[at + j] * gamma[j]) * (static_cast<double>(x[at + j]) - centre) * inverse;
    });
    team.each(features, [=, this](std::int64_t j) {
      const double normal = (static_cast<double>(x[at + j]) - centre) * inverse;
      dx[at + j] = stored<E>(static_cast<float>(
          inverse * (static_cast<double>(dy[at + j] * gamma[j]) - (sum + normal * sum_normal) / n)));
    });
  }
};

// Of a feature, over all rows: the gradients of gamma and beta.
template <class E>
struct LayerNormTerms {
  std::int64_t features;
  float epsilon;
  In<E> x, mean, variance, dy;
  PITWALL_DEVICE void operator()(std::int64_t i, std::int64_t, double* sums) const {
    const std::int64_t row = quotientOf(i, features);
    const float normal = (x[i] - mean[row]) * inverseRootOf(variance[row] + epsilon);
    sums[0] += static_cast<double>(dy[i] * normal);
    sums[1] += static_cast<double>(dy[i]);
  }
};

template <class E>
struct LayerNormWeights {
  E *dgamma, *dbeta;
  PITWALL_DEVICE void operator()(std::int64_t feature, const double (&sums)[2]) const {
    dgamma[feature] = stored<E>(static_cast<float>(sums[0]));
    dbeta[feature] = stored<E>(static_cast<float>(sums[1]));
  }
};

template <class L, class E>
GpuFunction makeOf(const LayerNormDesc& d, Pass pass, Signature& s) {
  const Shape& data = s.inputs[0].shape;
  const std::int64_t features = data[data.rank() - 1], rows = data.elements() / features;
  const double epsilon = static_cast<double>(d.epsilon);
  if (pass == Pass::backward) {
    const ChannelParts parts({features, 1, true}, rows);
    s.workspace_bytes = parts.sizeBytes(2);
    return [=, least = d.epsilon](const KernelArgs& a) {
      L launch(a.context);
      auto* const sums = static_cast<double*>(a.context.workspace);
      sumParts<2>(launch, parts,
                  LayerNormTerms<E>{features, least, arrayIn<E>(a, 0), arrayIn<E>(a, 2), arrayIn<E>(a, 3),
                                    arrayIn<E>(a, 4)},
                  sums);
      totalParts<2>(launch, features, parts.parts, sums,
                    LayerNormWeights<E>{arrayOut<E>(a, 1), arrayOut<E>(a, 2)});
      // The gradient of the data may have the place of that of the output: it is written last.
      launch.rows(
          rows, features,
          LayerNormGradientRow<E>{features, epsilon, arrayIn<E>(a, 0), arrayIn<E>(a, 1), arrayIn<E>(a, 2),
                                  arrayIn<E>(a, 3), arrayIn<E>(a, 4), arrayOut<E>(a, 0)});
      return launch.status();
    };
  }
  const bool saves = pass == Pass::forward;
  return [=](const KernelArgs& a) {
    L launch(a.context);
    launch.rows(rows, features,
                LayerNormRow<E>{features, epsilon, arrayIn<E>(a, 0), arrayIn<E>(a, 1), arrayIn<E>(a, 2),
                                arrayOut<E>(a, 0), saves ? arrayOut<E>(a, 1) : nullptr,
                                saves ? arrayOut<E>(a, 2) : nullptr});
    return launch.status();
  };
}
PITWALL_FOR_ELEMENTS(LayerNormDesc)

}  // namespace pitwall::gpu_kernels
