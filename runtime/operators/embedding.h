// Rows of a weight, selected by their numbers.
#pragma once

#include <cstdint>

#include "runtime/call_site.h"
#include "runtime/ndarray.h"
#include "runtime/operator_kind.h"

namespace pitwall {

// indices of any shape (whole numbers as float32), weight vocabulary x width -> indices' shape x width. An index that is no
// row is an error of the run.
//   inference, forward: indices, weight -> out
//   backward:           indices, dout   -> dweight
struct EmbeddingDesc {
  static const OperatorKind kKind;
  std::int64_t vocabulary = 1, width = 1;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const EmbeddingDesc&, const EmbeddingDesc&) = default;
};

namespace op {

// The gradient is that of the weight.
Result<NDArray> embedding(const NDArray& indices, const NDArray& weight, const CallSite& site = {});

}  // namespace op
}  // namespace pitwall
