#include "runtime/operators/take.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/backend/support/signature.h"
#include "runtime/operators/support/kernel_operator.h"

namespace pitwall {
namespace {

constexpr KernelOperator kTake{
    .forward = "take",
    .backward = "_backward_take",
    .forward_flop = nullptr,  // a copy computes nothing
    .backward_flop = [](const Prepared& p) -> Flop { return p.at_hand[2].shape.elements(); },
    .gradients = 1};

}  // namespace

constinit const OperatorKind TakeDesc::kKind = OperatorKind::of<TakeDesc>("take");

Result<Signature> TakeDesc::infer(const ShapeQuery& q) const {
  if (!q.isForward() && q.pass != Pass::backward) return q.noSuchPass();
  PITWALL_TRY(q.expectInputs(q.isForward() ? 2 : 3));
  const Shape &data = q.shape(0), &indices = q.shape(1);
  const int at = PITWALL_TRY(q.axisOf(axis, data));
  if (data.rank() - 1 + indices.rank() > Shape::kMaxRank)
    return q.wrong(fmt::format("the output would have {} axes, at most {} are possible",
                               data.rank() - 1 + indices.rank(), Shape::kMaxRank));
  Shape out;
  for (int i = 0; i < at; ++i) out.append(data[i]);
  for (int i = 0; i < indices.rank(); ++i) out.append(indices[i]);
  for (int i = at + 1; i < data.rank(); ++i) out.append(data[i]);
  if (q.isForward()) return q.signature({out});
  PITWALL_TRY(q.expectShape(2, out, "dout"));
  return q.signature({data});
}

Result<NDArray> op::take(const NDArray& data, const NDArray& indices, const TakeDesc& desc,
                         const CallSite& site) {
  return callKernel(kTake, desc, {{"data", data}, {"indices", indices}}, site);
}

}  // namespace pitwall
