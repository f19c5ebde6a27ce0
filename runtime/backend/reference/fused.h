// Activations that another operator applies to its output.
#pragma once

#include <algorithm>
#include <cmath>

#include "runtime/operators/activation.h"

namespace pitwall::reference {

inline double activated(const FusedActivation& a, double x) {
  using Type = FusedActivation::Type;
  switch (a.type) {
    case Type::none: return x;
    case Type::relu: return x > 0 ? x : 0;
    case Type::sigmoid: return 1 / (1 + std::exp(-x));
    case Type::tanh: return std::tanh(x);
    case Type::softrelu: return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
    case Type::clip:
      return std::min(std::max(x, static_cast<double>(a.minimum)), static_cast<double>(a.maximum));
  }
  return x;
}

}  // namespace pitwall::reference
