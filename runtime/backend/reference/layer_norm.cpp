#include <cmath>

#include "runtime/backend/reference/operators.h"

namespace pitwall::reference {
namespace {

double valueAt(const float* values, std::int64_t i) { return static_cast<double>(values[i]); }

struct Rows {
  std::int64_t rows, features;
  double epsilon;
};

void forward(const Rows& z, const KernelArgs& a, bool saves) {
  for (std::int64_t r = 0; r < z.rows; ++r) {
    const float* row = input(a, 0) + r * z.features;
    double mean = 0, variance = 0;
    for (std::int64_t c = 0; c < z.features; ++c) mean += valueAt(row, c);
    mean /= static_cast<double>(z.features);
    for (std::int64_t c = 0; c < z.features; ++c) variance += std::pow(valueAt(row, c) - mean, 2);
    variance /= static_cast<double>(z.features);
    for (std::int64_t c = 0; c < z.features; ++c) {
      const double normal = (valueAt(row, c) - mean) / std::sqrt(variance + z.epsilon);
      output(a, 0)[r * z.features + c] =
          static_cast<float>(normal * valueAt(input(a, 1), c) + valueAt(input(a, 2), c));
    }
    if (!saves) continue;
    output(a, 1)[r] = static_cast<float>(mean);
    output(a, 2)[r] = static_cast<float>(variance);
  }
}

void backward(const Rows& z, const KernelArgs& a) {
  const float* gamma = input(a, 1);
  std::vector<double> dgamma(static_cast<std::size_t>(z.features)),
      dbeta(static_cast<std::size_t>(z.features));
  for (std::int64_t r = 0; r < z.rows; ++r) {
    const float *row = input(a, 0) + r * z.features, *dout = input(a, 4) + r * z.features;
    const double mean = valueAt(input(a, 2), r), inverse = 1 / std::sqrt(valueAt(input(a, 3), r) + z.epsilon);
    const auto normal = [&](std::int64_t c) { return (valueAt(row, c) - mean) * inverse; };
    double sum = 0, sum_normal = 0;
    for (std::int64_t c = 0; c < z.features; ++c) {
      sum += valueAt(dout, c) * valueAt(gamma, c);
      sum_normal += valueAt(dout, c) * valueAt(gamma, c) * normal(c);
      dgamma[static_cast<std::size_t>(c)] += valueAt(dout, c) * normal(c);
      dbeta[static_cast<std::size_t>(c)] += valueAt(dout, c);
    }
    const double n = static_cast<double>(z.features);
    for (std::int64_t c = 0; c < z.features; ++c)
      output(a, 0)[r * z.features + c] = static_cast<float>(
          inverse * (valueAt(dout, c) * valueAt(gamma, c) - (sum + normal(c) * sum_normal) / n));
  }
  for (std::size_t c = 0; c < dgamma.size(); ++c) {
    output(a, 1)[c] = static_cast<float>(dgamma[c]);
    output(a, 2)[c] = static_cast<float>(dbeta[c]);
  }
}

}  // namespace

RunFunction make(const LayerNormDesc& desc, Pass pass, Signature& s) {
  const Shape& data = s.inputs[0].shape;
  const std::int64_t features = data[data.rank() - 1];
  const Rows z{data.elements() / features, features, static_cast<double>(desc.epsilon)};
  if (pass == Pass::backward) return [z](const KernelArgs& a) { return backward(z, a), Status{}; };
  return [z, saves = pass == Pass::forward](const KernelArgs& a) { return forward(z, a, saves), Status{}; };
}

}  // namespace pitwall::reference
