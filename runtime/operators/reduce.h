// The sum, mean, maximum or minimum along axes.
#pragma once

#include <cstdint>

#include "runtime/call_site.h"
#include "runtime/ndarray.h"
#include "runtime/operator_kind.h"

namespace pitwall {

enum class ReduceType : std::uint8_t { sum, mean, maximum, minimum };

//   inference, forward: data -> out
//   backward:           data, out, dout -> ddata
// Backward, sum and mean do not read data and out: pass any pointer. The maximum and minimum of NaN and others are NaN; their
// gradient goes to each element that equals them.
struct ReduceDesc {
  static const OperatorKind kKind;
  ReduceType type = ReduceType::sum;
  std::uint8_t axes = 0;   // bit i: along axis i; 0: along all
  bool keep_axes = false;  // with extent 1; else they are left out, and of all axes one of extent 1 remains
  // The output's shape, where the axes are kept.
  Shape kept(const Shape& data) const;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const ReduceDesc&, const ReduceDesc&) = default;
};

namespace op {

Result<NDArray> reduce(const NDArray& data, const ReduceDesc& desc = {}, const CallSite& site = {});

}  // namespace op
}  // namespace pitwall
