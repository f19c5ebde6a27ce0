// A number divided by each element.
#pragma once

#include "runtime/call_site.h"
#include "runtime/ndarray.h"
#include "runtime/operator_kind.h"

namespace pitwall {

// out = scalar / data.
//   inference, forward: data -> out
//   backward:           data, dout -> ddata
struct ReciprocalDesc {
  static const OperatorKind kKind;
  float scalar = 1;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const ReciprocalDesc&, const ReciprocalDesc&) = default;
};

namespace op {

Result<NDArray> divideScalarBy(float scalar, const NDArray& data, const CallSite& site = {});

}  // namespace op
}  // namespace pitwall
