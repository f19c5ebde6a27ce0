// The products of the matrices of two batches.
#pragma once

#include "runtime/call_site.h"
#include "runtime/ndarray.h"
#include "runtime/operator_kind.h"

namespace pitwall {

struct MatrixFactors;  // runtime/backend/support/matrix_product.h

// The last two axes are matrices, the others the batch, equal in both.
//   inference, forward: a, b -> out
//   backward:           a, b, dout -> da, db
struct BatchDotDesc {
  static const OperatorKind kKind;
  bool transpose_a = false, transpose_b = false;
  MatrixFactors factors(const Shape& a, const Shape& b) const;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const BatchDotDesc&, const BatchDotDesc&) = default;
};

namespace op {

Result<NDArray> batchDot(const NDArray& a, const NDArray& b, const BatchDotDesc& desc = {},
                         const CallSite& site = {});

}  // namespace op
}  // namespace pitwall
