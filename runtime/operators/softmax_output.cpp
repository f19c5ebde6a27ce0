#include "runtime/operators/softmax_output.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/backend/support/signature.h"
#include "runtime/backend/support/softmax_output.h"
#include "runtime/operators/support/kernel_operator.h"

namespace pitwall {
namespace {

constexpr KernelOperator kSoftmaxOutput{
    .forward = "SoftmaxOutput",
    .backward = "_backward_SoftmaxOutput",
    // Maximum, difference, exponential, sum and quotient of each score.
    .forward_flop = [](const Prepared& p) -> Flop { return 5 * p.at_hand[0].shape.elements(); },
    .backward_flop = [](const Prepared& p) -> Flop { return 2 * p.at_hand[1].shape.elements(); },
    .reads_inputs = 2,
    .reads_outputs = 1,
    .reads_gradient = false,
    .gradients = 1,
    .forward_inputs = 1};

bool areProbabilities(const Shape& label, const Shape& data) { return label == data; }

Status checkLabels(const ShapeQuery& q, const SoftmaxOutputDesc& d, const Shape& label, const Shape& data) {
  const AxisExtents e = softmaxExtents(d, data);
  if (areProbabilities(label, data) || label.elements() == e.outer * e.inner) return {};
  return q.wrong(fmt::format("label has shape {}, must have {} elements, one for each softmax of {}",
                             label.toString(), e.outer * e.inner, data.toString()));
}

}  // namespace

constinit const OperatorKind SoftmaxOutputDesc::kKind = OperatorKind::of<SoftmaxOutputDesc>("SoftmaxOutput");

Result<Signature> SoftmaxOutputDesc::infer(const ShapeQuery& q) const {
  if (!q.isForward() && q.pass != Pass::backward) return q.noSuchPass();
  PITWALL_TRY(q.expectInputs(q.isForward() ? 1 : 2));
  const Shape& data = q.shape(q.isForward() ? 0 : 1);
  if (data.rank() < 2) return q.wrong("data must have at least 2 axes");
  if (multi_output && preserve_shape)
    return q.wrong("multi_output and preserve_shape name different axes; set one of both");
  if (!(smooth_alpha >= 0 && smooth_alpha < 1))
    return q.wrong(fmt::format("smooth_alpha {}: must be in [0, 1)", smooth_alpha));
  if (!q.isForward()) PITWALL_TRY(checkLabels(q, *this, q.shape(0), data));
  return q.signature({data});
}

Result<NDArray> op::softmaxOutput(const NDArray& data, const NDArray& label, const SoftmaxOutputDesc& kind,
                                  const CallSite& site) {
  PITWALL_TRY(requireArrays(site, "SoftmaxOutput", {{"data", data}, {"label", label}}));
  const OperatorKindDesc desc = kind;
  const TensorSpec specs[] = {valueOf(label).spec(), valueOf(data).spec()};
  PITWALL_TRY(inferSignature(desc, Pass::backward, specs, nullptr));
  return callKernel(kSoftmaxOutput, desc, {{"data", data}, {"label", label}}, site);
}

}  // namespace pitwall
