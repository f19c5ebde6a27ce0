// The sum of any number of arrays.
#pragma once

#include <span>

#include "runtime/call_site.h"
#include "runtime/ndarray.h"
#include "runtime/operator_kind.h"

namespace pitwall {

// The arrays have one shape. They are added in their order.
//   inference, forward: data, data, ... -> out
struct AddNDesc {
  static const OperatorKind kKind;
  int inputs = 2;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const AddNDesc&, const AddNDesc&) = default;
};

namespace op {

// Each array's gradient is that of the sum. Errors: invalidInput for no array or for shapes that differ.
Result<NDArray> addN(std::span<const NDArray> arrays, const CallSite& site = {});

}  // namespace op
}  // namespace pitwall
