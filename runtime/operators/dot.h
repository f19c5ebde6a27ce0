// The product of two matrices, or of arrays with more axes.
#pragma once

#include "runtime/call_site.h"
#include "runtime/ndarray.h"
#include "runtime/operator_kind.h"

namespace pitwall {

struct MatrixFactors;  // runtime/backend/support/matrix_product.h

// Sums over the last axis of a and the first of b; transposed, over the first of a and the last of b. The output has the other
// axes of a, then those of b; of two vectors, one axis of extent 1.
//   inference, forward: a, b -> out
//   backward:           a, b, dout -> da, db
struct DotDesc {
  static const OperatorKind kKind;
  bool transpose_a = false, transpose_b = false;
  MatrixFactors factors(const Shape& a, const Shape& b) const;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const DotDesc&, const DotDesc&) = default;
};

namespace op {

Result<NDArray> dot(const NDArray& a, const NDArray& b, const DotDesc& desc = {}, const CallSite& site = {});

}  // namespace op
}  // namespace pitwall
