// Another order of the axes.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/call_site.h"
#include "runtime/ndarray.h"
#include "runtime/operator_kind.h"

namespace pitwall {

// Axis i of the output is axis axes[i] of the data.
//   inference, forward: data -> out
//   backward:           dout -> ddata
struct TransposeDesc {
  static const OperatorKind kKind;
  std::array<std::int8_t, Shape::kMaxRank> axes{};
  int rank = 0;  // so many of them are used; 0: the axes in reverse
  // The axes for an array of this rank.
  TransposeDesc of(int data_rank) const;
  Result<Signature> infer(const ShapeQuery& query) const;
  friend bool operator==(const TransposeDesc&, const TransposeDesc&) = default;
};

namespace op {

Result<NDArray> transpose(const NDArray& data, const TransposeDesc& desc = {}, const CallSite& site = {});

}  // namespace op
}  // namespace pitwall
