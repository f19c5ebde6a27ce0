// The sum of gradients that are codes of 2 bits (runtime/backend/support/two_bit.h).
#pragma once

#include "runtime/operator_kind.h"

namespace pitwall {

//   forward: codes_0..n-1 (uint8) -> out (float32), of the shape of `like`; added in this order
struct TwoBitSumDesc {
  static const OperatorKind kKind;
  float threshold = 0.5F;  // greater than 0
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const TwoBitSumDesc&, const TwoBitSumDesc&) = default;
};

}  // namespace pitwall
