// An axis in equal parts.
#pragma once

#include "runtime/operator_kind.h"

namespace pitwall {

// `outputs` parts of the axis, each an array; with `squeeze` parts of one element, without the axis.
//   inference, forward: data -> out, out, ...
//   backward:           dout, dout, ... -> ddata
struct SliceChannelDesc {
  static const OperatorKind kKind;
  int axis = 1;  // negative: from the end
  int outputs = 2;
  bool squeeze = false;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const SliceChannelDesc&, const SliceChannelDesc&) = default;
};

}  // namespace pitwall
