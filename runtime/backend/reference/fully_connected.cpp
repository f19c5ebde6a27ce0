#include "runtime/backend/reference/fused.h"
#include "runtime/backend/reference/operators.h"

namespace pitwall::reference {
namespace {

// out[n][m] = activation(sum over k of data[n][k] * weight[m][k])
struct FullyConnectedSizes {
  std::int64_t n, m, k;
  FusedActivation activation;
};

// sum over i < count of a[i * a_step] * b[i * b_step]
double dot(const float* a, std::int64_t a_step, const float* b, std::int64_t b_step, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    sum += static_cast<double>(a[i * a_step]) * static_cast<double>(b[i * b_step]);
  }
  return sum;
}

void forward(const FullyConnectedSizes& z, const float* data, const float* weight, const float* bias,
             float* out) {
  for (std::int64_t n = 0; n < z.n; ++n) {
    for (std::int64_t m = 0; m < z.m; ++m) {
      const double sum = dot(data + n * z.k, 1, weight + m * z.k, 1, z.k);
      const double shift = bias != nullptr ? static_cast<double>(bias[m]) : 0.0;
      out[n * z.m + m] = static_cast<float>(activated(z.activation, sum + shift));
    }
  }
}

void backwardData(const FullyConnectedSizes& z, const float* dout, const float* weight, float* ddata) {
  for (std::int64_t n = 0; n < z.n; ++n) {
    for (std::int64_t k = 0; k < z.k; ++k) {
      ddata[n * z.k + k] = static_cast<float>(dot(dout + n * z.m, 1, weight + k, z.k, z.m));
    }
  }
}

void backwardWeights(const FullyConnectedSizes& z, const float* data, const float* dout, float* dweight,
                     float* dbias) {
  for (std::int64_t m = 0; m < z.m; ++m) {
    for (std::int64_t k = 0; k < z.k; ++k) {
      dweight[m * z.k + k] = static_cast<float>(dot(dout + m, z.m, data + k, z.k, z.n));
    }
  }
  const float one = 1;
  for (std::int64_t m = 0; dbias != nullptr && m < z.m; ++m) {
    dbias[m] = static_cast<float>(dot(dout + m, z.m, &one, 0, z.n));
  }
}

}  // namespace

RunFunction make(const FullyConnectedDesc& desc, Pass pass, Signature& s) {
  const Shape& data = pass == Pass::backwardData ? s.outputs[0].shape : s.inputs[0].shape;
  const std::int64_t features = desc.flatten ? data.elements() / data[0] : data[data.rank() - 1];
  const FullyConnectedSizes z{data.elements() / features, desc.units, features, desc.activation};
  const bool bias = desc.bias;
  if (pass == Pass::backwardData) {
    return [z](const KernelArgs& a) {
      return backwardData(z, input(a, 0), input(a, 1), output(a, 0)), Status{};
    };
  }
  if (pass == Pass::backwardWeights) {
    return [z, bias](const KernelArgs& a) {
      backwardWeights(z, input(a, 0), input(a, 1), output(a, 0), bias ? output(a, 1) : nullptr);
      return Status{};
    };
  }
  return [z, bias](const KernelArgs& a) {
    forward(z, input(a, 0), input(a, 1), bias ? input(a, 2) : nullptr, output(a, 0));
    return Status{};
  };
}

}  // namespace pitwall::reference
