// A range of one axis.
#pragma once

#include <cstdint>
#include <limits>

#include "runtime/call_site.h"
#include "runtime/ndarray.h"
#include "runtime/operator_kind.h"

namespace pitwall {

// The elements from begin to before end of the axis; negative ones count from its end.
//   inference, forward: data -> out
//   backward:           data, dout -> ddata     (data is not read: pass any pointer)
struct SliceAxisDesc {
  static constexpr std::int64_t kToTheEnd = std::numeric_limits<std::int64_t>::max();
  static const OperatorKind kKind;
  int axis = 0;  // negative: from the last
  std::int64_t begin = 0, end = kToTheEnd;
  // The same for an axis of so many elements, without negative numbers.
  SliceAxisDesc of(std::int64_t extent) const;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const SliceAxisDesc&, const SliceAxisDesc&) = default;
};

namespace op {

Result<NDArray> sliceAxis(const NDArray& data, const SliceAxisDesc& desc, const CallSite& site = {});

}  // namespace op
}  // namespace pitwall
