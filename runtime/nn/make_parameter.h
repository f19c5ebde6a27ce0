// Parameters of the layers.
#pragma once

#include "runtime/nn.h"

namespace pitwall::nn {

// A weight, filled by the initialiser of Sequential::initialise().
inline ParameterPtr makeWeight(const std::string& layer) {
  return std::make_shared<Parameter>(Parameter{
      .name = layer + ".weight", .value = {}, .follows_net = true, .initialiser = Initialiser::xavier()});
}

inline ParameterPtr makeConstant(std::string name, float value, bool trained = true) {
  return std::make_shared<Parameter>(Parameter{
      .name = std::move(name), .value = {}, .trained = trained, .initialiser = Initialiser::constant(value)});
}

inline NDArray arrayOf(const ParameterPtr& parameter) {
  return parameter != nullptr ? parameter->value : NDArray();
}

}  // namespace pitwall::nn
