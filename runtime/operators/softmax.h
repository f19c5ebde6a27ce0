// Exponentials that add up to one.
#pragma once

#include "runtime/call_site.h"
#include "runtime/ndarray.h"
#include "runtime/operator_kind.h"

namespace pitwall {

// out = exp(data / temperature) / sum, where sum is that of the exponentials along the axis; or the logarithm of that.
//   inference, forward: data -> out
//   backward:           out, dout -> ddata
struct SoftmaxDesc {
  static const OperatorKind kKind;
  int axis = -1;  // negative: from the end
  float temperature = 1;
  bool logarithm = false;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const SoftmaxDesc&, const SoftmaxDesc&) = default;
};

namespace op {

// With desc.logarithm, traces name it log_softmax.
Result<NDArray> softmax(const NDArray& data, const SoftmaxDesc& desc = {}, const CallSite& site = {});

}  // namespace op
}  // namespace pitwall
