// A function of each element.
#pragma once

#include <cstdint>

#include "runtime/call_site.h"
#include "runtime/ndarray.h"
#include "runtime/operator_kind.h"

namespace pitwall {

enum class ActivationType : std::uint8_t { relu, sigmoid, tanh, softrelu };

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
