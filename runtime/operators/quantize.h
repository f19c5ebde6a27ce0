// Real numbers as 8-bit ones, with their range.
#pragma once

#include "runtime/number_range.h"
#include "runtime/operator_kind.h"
#include "runtime/tensor.h"

namespace pitwall {

// MXNet's _contrib_quantize_v2. int8: 127 is the larger of the range's limits, and zero is 0; uint8: 0 is the minimum and 255 the
// maximum. What is outside the range is limited to it.
//   inference: data (float32) -> out, minimum (float32, 1 element), maximum (the same)
struct QuantizeDesc {
  static const OperatorKind kKind;
  DType output = DType::int8;  // or uint8
  bool is_calibrated = false;  // with the range below; else with that of the data
  NumberRange range = {};
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const QuantizeDesc&, const QuantizeDesc&) = default;
};

}  // namespace pitwall
