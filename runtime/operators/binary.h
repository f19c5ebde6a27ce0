// Arithmetic of two arrays.
#pragma once

#include <cstdint>

#include "runtime/call_site.h"
#include "runtime/ndarray.h"
#include "runtime/operator_kind.h"

namespace pitwall {

enum class BinaryType : std::uint8_t { add, subtract, multiply, divide };

// Same shapes. inference, forward: a, b -> out
struct BinaryDesc {
  static const OperatorKind kKind;
  BinaryType type = BinaryType::add;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const BinaryDesc&, const BinaryDesc&) = default;
};

namespace op {

// Element by element, equal shapes.
Result<NDArray> add(const NDArray& a, const NDArray& b, const CallSite& site = {});
Result<NDArray> subtract(const NDArray& a, const NDArray& b, const CallSite& site = {});
Result<NDArray> multiply(const NDArray& a, const NDArray& b, const CallSite& site = {});
Result<NDArray> divide(const NDArray& a, const NDArray& b, const CallSite& site = {});

}  // namespace op

}  // namespace pitwall
