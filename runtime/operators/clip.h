// Limits each element to a range.
#pragma once

#include "runtime/call_site.h"
#include "runtime/ndarray.h"
#include "runtime/operator_kind.h"

namespace pitwall {

// Elements below the minimum become the minimum, those above the maximum the maximum. The defaults are those of ReLU6.
//   inference, forward: data -> out
//   backward:           out, dout -> ddata
// The gradient is that of the output where minimum < out < maximum, else 0: also at the limits themselves.
struct ClipDesc {
  static const OperatorKind kKind;
  float minimum = 0, maximum = 6;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const ClipDesc&, const ClipDesc&) = default;
};

namespace op {

Result<NDArray> clip(const NDArray& data, const ClipDesc& desc, const CallSite& site = {});

}  // namespace op
}  // namespace pitwall
