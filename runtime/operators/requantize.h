// Sums of products of 8-bit numbers as 8-bit ones.
#pragma once

#include "runtime/number_range.h"
#include "runtime/operator_kind.h"
#include "runtime/tensor.h"

namespace pitwall {

// MXNet's _contrib_requantize: Dequantize, then Quantize.
//   inference: data (int32), minimum (float32, 1 element), maximum (the same) -> out, minimum, maximum
struct RequantizeDesc {
  static const OperatorKind kKind;
  DType output = DType::int8;  // or uint8
  bool is_calibrated = false;  // with the range below; else with that of the data
  NumberRange range = {};
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const RequantizeDesc&, const RequantizeDesc&) = default;
};

}  // namespace pitwall
