// Arithmetic of an array with one number.
#pragma once

#include "runtime/call_site.h"
#include "runtime/ndarray.h"
#include "runtime/operator_kind.h"

namespace pitwall {

// out = scale * data + shift. inference, forward: data -> out
struct LinearDesc {
  static const OperatorKind kKind;
  float scale = 1, shift = 0;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const LinearDesc&, const LinearDesc&) = default;
};

namespace op {

Result<NDArray> addScalar(const NDArray& data, float scalar, const CallSite& site = {});
Result<NDArray> subtractScalar(const NDArray& data, float scalar, const CallSite& site = {});
Result<NDArray> multiplyScalar(const NDArray& data, float scalar, const CallSite& site = {});
Result<NDArray> divideScalar(const NDArray& data, float scalar, const CallSite& site = {});
Result<NDArray> subtractFromScalar(float scalar, const NDArray& data, const CallSite& site = {});

}  // namespace op

}  // namespace pitwall
