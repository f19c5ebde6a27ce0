// Arrays beside each other along one axis.
#pragma once

#include <span>

#include "runtime/call_site.h"
#include "runtime/ndarray.h"
#include "runtime/operator_kind.h"

namespace pitwall {

// The inputs have equal extents on all other axes.
//   inference, forward: data, data, ... -> out
//   backward:           data, data, ..., dout -> ddata, ddata, ...     (data is not read: pass any pointer)
struct ConcatDesc {
  static const OperatorKind kKind;
  int axis = 1;  // negative: from the end
  int inputs = 2;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const ConcatDesc&, const ConcatDesc&) = default;
};

namespace op {

Result<NDArray> concat(std::span<const NDArray> arrays, int axis = 1, const CallSite& site = {});

}  // namespace op
}  // namespace pitwall
