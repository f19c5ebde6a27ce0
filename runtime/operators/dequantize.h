// 8-bit numbers, and sums of their products, as real ones.
#pragma once

#include "runtime/operator_kind.h"

namespace pitwall {

// MXNet's _contrib_dequantize: the reverse of Quantize and, of int32, of Requantize.
//   inference: data (int8, uint8 or int32), minimum (float32, 1 element), maximum (the same) -> out (float32)
struct DequantizeDesc {
  static const OperatorKind kKind;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const DequantizeDesc&, const DequantizeDesc&) = default;
};

}  // namespace pitwall
