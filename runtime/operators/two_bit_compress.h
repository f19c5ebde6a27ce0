// Gradients as codes of 2 bits (runtime/backend/support/two_bit.h).
#pragma once

#include "runtime/operator_kind.h"

namespace pitwall {

//   forward: gradient -> codes (uint8), residual   (the residual, of the gradient's shape, is read and written)
struct TwoBitCompressDesc {
  static const OperatorKind kKind;
  float threshold = 0.5F;  // greater than 0
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const TwoBitCompressDesc&, const TwoBitCompressDesc&) = default;
};

}  // namespace pitwall
