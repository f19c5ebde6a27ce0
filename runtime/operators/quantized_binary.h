// Sums and products of the elements of two 8-bit arrays.
#pragma once

#include "runtime/operator_kind.h"
#include "runtime/operators/binary.h"
#include "runtime/tensor.h"

namespace pitwall {

// add: out = lhs_scale * lhs + rhs_scale * rhs; multiply: out = lhs_scale * rhs_scale * lhs * rhs; rounded and limited as by Rescale.
//   inference: lhs (int8 or uint8), rhs (the same, in lhs's shape) -> out
struct QuantizedBinaryDesc {
  static const OperatorKind kKind;
  BinaryType type = BinaryType::add;  // or multiply
  float lhs_scale = 1, rhs_scale = 1;
  DType output = DType::int8;  // or uint8, int32, float32
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const QuantizedBinaryDesc&, const QuantizedBinaryDesc&) = default;
};

}  // namespace pitwall
