#include "runtime/operators/slice_axis.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/backend/support/signature.h"
#include "runtime/operators/support/kernel_operator.h"

namespace pitwall {
namespace {

// A copy computes nothing.
constexpr KernelOperator kSliceAxis{.forward = "slice_axis",
                                    .backward = "_backward_slice_axis",
                                    .forward_flop = nullptr,
                                    .backward_flop = nullptr};

}  // namespace

constinit const OperatorKind SliceAxisDesc::kKind = OperatorKind::of<SliceAxisDesc>("slice_axis");

SliceAxisDesc SliceAxisDesc::of(std::int64_t extent) const {
  SliceAxisDesc d = *this;
  if (d.begin < 0) d.begin += extent;
  if (d.end == kToTheEnd) d.end = extent;
  if (d.end < 0) d.end += extent;
  return d;
}

Result<Signature> SliceAxisDesc::infer(const ShapeQuery& q) const {
  if (!q.isForward() && q.pass != Pass::backward) return q.noSuchPass();
  PITWALL_TRY(q.expectInputs(q.isForward() ? 1 : 2));
  const Shape& data = q.shape(0);
  const int at = PITWALL_TRY(q.axisOf(axis, data));
  const SliceAxisDesc range = of(data[at]);
  if (range.begin < 0 || range.begin >= range.end || range.end > data[at])
    return q.wrong(fmt::format("the range {} to {} is not one of the {} elements of axis {}", range.begin,
                               range.end, data[at], at));
  Shape out;
  for (int i = 0; i < data.rank(); ++i) out.append(i == at ? range.end - range.begin : data[i]);
  if (q.isForward()) return q.signature({out});
  PITWALL_TRY(q.expectShape(1, out, "dout"));
  return q.signature({data});
}

Result<NDArray> op::sliceAxis(const NDArray& data, const SliceAxisDesc& desc, const CallSite& site) {
  return callKernel(kSliceAxis, desc, {{"data", data}}, site);
}

}  // namespace pitwall
