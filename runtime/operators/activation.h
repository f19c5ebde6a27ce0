// A function of each element.
#pragma once

#include <cstdint>

#include "runtime/call_site.h"
#include "runtime/ndarray.h"
#include "runtime/operator_kind.h"

namespace pitwall {

enum class ActivationType : std::uint8_t { relu, sigmoid, tanh, softrelu };

// A function that another operator applies to its output before it writes it.
struct FusedActivation {
  enum class Type : std::uint8_t { none, relu, sigmoid, tanh, softrelu, clip };
  Type type = Type::none;
  float minimum = 0, maximum = 6;  // of clip
  friend bool operator==(const FusedActivation&, const FusedActivation&) = default;
};

//   inference, forward: data -> out
//   backward:           data, out, dout -> ddata
// Backward, relu, sigmoid and tanh do not read data, softrelu does not read out: pass any pointer.
struct ActivationDesc {
  static const OperatorKind kKind;
  ActivationType type = ActivationType::relu;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const ActivationDesc&, const ActivationDesc&) = default;
};

namespace op {

Result<NDArray> activation(const NDArray& data, const ActivationDesc& desc, const CallSite& site = {});

}  // namespace op

}  // namespace pitwall
