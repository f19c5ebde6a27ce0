#include <cmath>

#include "runtime/backend/reference/operators.h"

namespace pitwall::reference {
namespace {

double value(ActivationType type, double x) {
  switch (type) {
    case ActivationType::relu: return x > 0 ? x : 0;
    case ActivationType::sigmoid: return 1 / (1 + std::exp(-x));
    case ActivationType::tanh: return std::tanh(x);
    // log(1 + e^x), without overflow
    case ActivationType::softrelu: return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
  }
  return 0;
}

double slope(ActivationType type, double x, double y) {
  switch (type) {
    case ActivationType::relu: return y > 0 ? 1 : 0;
    case ActivationType::sigmoid: return y * (1 - y);
    case ActivationType::tanh: return 1 - y * y;
    case ActivationType::softrelu: return 1 / (1 + std::exp(-x));
  }
  return 0;
}

}  // namespace

RunFunction make(const ActivationDesc& desc, Pass pass, Signature& s) {
  const std::int64_t n = s.outputs[0].shape.elements();
  const ActivationType type = desc.type;
  if (pass == Pass::backward) {
    return [type, n](const KernelArgs& a) {
      const bool reads_data = type == ActivationType::softrelu;
      for (std::int64_t i = 0; i < n; ++i) {
        const double x = reads_data ? static_cast<double>(input(a, 0)[i]) : 0;
        const double y = reads_data ? 0 : static_cast<double>(input(a, 1)[i]);
        output(a, 0)[i] = static_cast<float>(slope(type, x, y) * static_cast<double>(input(a, 2)[i]));
      }
      return Status{};
    };
  }
  return [type, n](const KernelArgs& a) {
    for (std::int64_t i = 0; i < n; ++i) {
      output(a, 0)[i] = static_cast<float>(value(type, static_cast<double>(input(a, 0)[i])));
    }
    return Status{};
  };
}

}  // namespace pitwall::reference
