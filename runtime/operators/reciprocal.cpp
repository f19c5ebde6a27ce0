#include "runtime/operators/reciprocal.h"

#include "db/try.h"
#include "runtime/backend/support/signature.h"
#include "runtime/operators/support/kernel_operator.h"

namespace pitwall {
namespace {

// A quotient; and for the gradient two, and a product.
constexpr KernelOperator kReciprocal{
    .forward = "_rdiv_scalar",
    .backward = "_backward_rdiv_scalar",
    .forward_flop = [](const Prepared& p) -> Flop { return p.at_hand[0].shape.elements(); },
    .backward_flop = [](const Prepared& p) -> Flop { return 3 * p.at_hand[0].shape.elements(); }};

}  // namespace

constinit const OperatorKind ReciprocalDesc::kKind = OperatorKind::of<ReciprocalDesc>("Reciprocal");

Result<Signature> ReciprocalDesc::infer(const ShapeQuery& q) const {
  if (!q.isForward() && q.pass != Pass::backward) return q.noSuchPass();
  PITWALL_TRY(q.expectInputs(q.isForward() ? 1 : 2));
  if (!q.isForward()) PITWALL_TRY(q.expectShape(1, q.shape(0), "dout"));
  return q.signature({q.shape(0)});
}

Result<NDArray> op::divideScalarBy(float scalar, const NDArray& data, const CallSite& site) {
  return callKernel(kReciprocal, ReciprocalDesc{scalar}, {{"data", data}}, site);
}

}  // namespace pitwall
