// The conversion of an array to another element type.
#pragma once

#include "runtime/call_site.h"
#include "runtime/ndarray.h"
#include "runtime/operator_kind.h"
#include "runtime/tensor.h"

namespace pitwall {

// inference, forward: data -> out. Both are float32, float16 or bfloat16; rounded to the nearest, of two the even one.
struct CastDesc {
  static const OperatorKind kKind;
  DType output = DType::float32;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const CastDesc&, const CastDesc&) = default;
};

namespace op {

// The array itself where it has the type. Gradients flow through it in the type of `data`.
Result<NDArray> cast(const NDArray& data, DType type, const CallSite& site = {});

}  // namespace op

}  // namespace pitwall
