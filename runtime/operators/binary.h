// Arithmetic of two arrays.
#pragma once

#include <cstdint>

#include "runtime/call_site.h"
#include "runtime/ndarray.h"
#include "runtime/operator_kind.h"

namespace pitwall {

enum class BinaryType : std::uint8_t { add, subtract, multiply, divide, maximum, minimum };

// Shapes as NumPy combines them: aligned at the last axis; where one has extent 1, or no such axis, its elements repeat.
//   inference, forward: a, b -> out
//   backward:           a, b, dout -> da, db
// Backward, add and subtract do not read a and b: pass any pointer. Maximum and minimum are NaN where a or b is;
// their gradient is that of a where both are equal, and of neither where one is NaN.
struct BinaryDesc {
  static const OperatorKind kKind;
  BinaryType type = BinaryType::add;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const BinaryDesc&, const BinaryDesc&) = default;
};

namespace op {

// Element by element; shapes are combined as BinaryDesc says.
Result<NDArray> add(const NDArray& a, const NDArray& b, const CallSite& site = {});
Result<NDArray> subtract(const NDArray& a, const NDArray& b, const CallSite& site = {});
Result<NDArray> multiply(const NDArray& a, const NDArray& b, const CallSite& site = {});
Result<NDArray> divide(const NDArray& a, const NDArray& b, const CallSite& site = {});
Result<NDArray> maximum(const NDArray& a, const NDArray& b, const CallSite& site = {});
Result<NDArray> minimum(const NDArray& a, const NDArray& b, const CallSite& site = {});

}  // namespace op

}  // namespace pitwall
