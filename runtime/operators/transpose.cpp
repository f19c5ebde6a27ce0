#include "runtime/operators/transpose.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/backend/support/signature.h"
#include "runtime/operators/support/kernel_operator.h"

namespace pitwall {
namespace {

// A copy computes nothing.
constexpr KernelOperator kTranspose{.forward = "transpose",
                                    .backward = "_backward_transpose",
                                    .forward_flop = nullptr,
                                    .backward_flop = nullptr,
                                    .reads_inputs = 0};

// Whether each axis is given once.
bool isPermutation(const TransposeDesc& d) {
  unsigned seen = 0;
  for (int i = 0; i < d.rank; ++i) {
    const int axis = d.axes[static_cast<std::size_t>(i)];
    if (axis < 0 || axis >= d.rank) return false;
    seen |= 1U << axis;
  }
  return seen == (1U << d.rank) - 1;
}

}  // namespace

constinit const OperatorKind TransposeDesc::kKind = OperatorKind::of<TransposeDesc>("transpose");

TransposeDesc TransposeDesc::of(int data_rank) const {
  TransposeDesc d = *this;
  if (d.rank != 0) return d;
  d.rank = data_rank;
  for (int i = 0; i < data_rank; ++i)
    d.axes[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(data_rank - 1 - i);
  return d;
}

Result<Signature> TransposeDesc::infer(const ShapeQuery& q) const {
  if (!q.isForward() && q.pass != Pass::backward) return q.noSuchPass();
  PITWALL_TRY(q.expectInputs(1));
  const Shape& given = q.shape(0);
  const TransposeDesc d = of(given.rank());
  if (d.rank != given.rank() || !isPermutation(d))
    return q.wrong(fmt::format("the axes must name each of the {} axes once", given.rank()));
  std::array<std::int64_t, Shape::kMaxRank> extents{};
  for (int i = 0; i < d.rank; ++i) {
    const int axis = d.axes[static_cast<std::size_t>(i)];
    extents[static_cast<std::size_t>(q.isForward() ? i : axis)] = given[q.isForward() ? axis : i];
  }
  Shape made;
  for (int i = 0; i < d.rank; ++i) made.append(extents[static_cast<std::size_t>(i)]);
  return q.signature({made});
}

Result<NDArray> op::transpose(const NDArray& data, const TransposeDesc& desc, const CallSite& site) {
  return callKernel(kTranspose, desc, {{"data", data}}, site);
}

}  // namespace pitwall
