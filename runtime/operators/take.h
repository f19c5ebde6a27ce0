// Elements of an axis, selected by their numbers.
#pragma once

#include "runtime/call_site.h"
#include "runtime/ndarray.h"
#include "runtime/operator_kind.h"

namespace pitwall {

// What becomes of an index that is not in the axis: the nearest that is, the index modulo the extent, or an error of the run.
enum class TakeMode : std::uint8_t { clip, wrap, raise };

// The axis of the data is replaced by those of the indices (whole numbers as float32).
//   inference, forward: data, indices -> out
//   backward:           data, indices, dout -> ddata     (data is not read: pass any pointer)
struct TakeDesc {
  static const OperatorKind kKind;
  int axis = 0;  // negative: from the end
  TakeMode mode = TakeMode::clip;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const TakeDesc&, const TakeDesc&) = default;
};

namespace op {

// The gradient is that of the data.
Result<NDArray> take(const NDArray& data, const NDArray& indices, const TakeDesc& desc = {},
                     const CallSite& site = {});

}  // namespace op
}  // namespace pitwall
