#include "runtime/operators/softmax.h"

#include <fmt/format.h>

#include <cmath>

#include "db/try.h"
#include "runtime/backend/support/signature.h"
#include "runtime/operators/support/kernel_operator.h"

namespace pitwall {
namespace {

// Maximum, difference, exponential, sum and quotient of each element.
Flop softmaxFlop(const Prepared& p) { return 5 * p.at_hand[0].shape.elements(); }
// A product and its sum, a difference and a product; of the logarithm, a sum, an exponential, a product and a difference.
Flop softmaxGradientFlop(const Prepared& p) { return 4 * p.at_hand[0].shape.elements(); }

constexpr KernelOperator softmaxNamed(const char* forward, const char* backward) {
  return {.forward = forward,
          .backward = backward,
          .forward_flop = softmaxFlop,
          .backward_flop = softmaxGradientFlop,
          .reads_inputs = 0,
          .reads_outputs = 1};
}
constexpr KernelOperator kSoftmax = softmaxNamed("softmax", "_backward_softmax"),
                         kLogSoftmax = softmaxNamed("log_softmax", "_backward_log_softmax");

}  // namespace

constinit const OperatorKind SoftmaxDesc::kKind = OperatorKind::of<SoftmaxDesc>("softmax");

Result<Signature> SoftmaxDesc::infer(const ShapeQuery& q) const {
  if (!q.isForward() && q.pass != Pass::backward) return q.noSuchPass();
  PITWALL_TRY(q.expectInputs(q.isForward() ? 1 : 2));
  PITWALL_TRY(q.axisOf(axis, q.shape(0)));
  if (!std::isfinite(temperature) || temperature == 0)
    return q.wrong(fmt::format("the temperature is {}: must be finite and not 0", temperature));
  if (!q.isForward()) PITWALL_TRY(q.expectShape(1, q.shape(0), "dout"));
  return q.signature({q.shape(0)});
}

Result<NDArray> op::softmax(const NDArray& data, const SoftmaxDesc& desc, const CallSite& site) {
  return callKernel(desc.logarithm ? kLogSoftmax : kSoftmax, desc, {{"data", data}}, site);
}

}  // namespace pitwall
