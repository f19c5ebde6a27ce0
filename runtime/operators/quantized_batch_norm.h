// A factor and a summand for each channel of 8-bit images: batch normalisation with known statistics.
#pragma once

#include "runtime/operator_kind.h"
#include "runtime/tensor.h"

namespace pitwall {

// out = scale * data + shift, with relu at least 0; rounded and limited as by Rescale.
//   inference: data (int8 or uint8; N x C x ...), scale (float32, C), shift (the same) -> out
struct QuantizedBatchNormDesc {
  static const OperatorKind kKind;
  bool relu = false;
  DType output = DType::int8;  // or uint8
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const QuantizedBatchNormDesc&, const QuantizedBatchNormDesc&) = default;
};

}  // namespace pitwall
