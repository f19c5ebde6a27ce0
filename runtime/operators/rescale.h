// The elements of an array as numbers of another type.
#pragma once

#include "runtime/operator_kind.h"
#include "runtime/tensor.h"

namespace pitwall {

// out = scale * data; of integers rounded to the nearest, of two the even one, and limited to the type's range.
//   inference: data (float32, int8, uint8 or int32) -> out
struct RescaleDesc {
  static const OperatorKind kKind;
  float scale = 1;
  DType output = DType::float32;  // the same four
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const RescaleDesc&, const RescaleDesc&) = default;
};

}  // namespace pitwall
