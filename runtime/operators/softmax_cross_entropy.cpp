#include "runtime/operators/softmax_cross_entropy.h"

#include "db/try.h"
#include "runtime/array/call.h"
#include "runtime/autograd/node.h"
#include "runtime/backend/support/signature.h"

namespace pitwall {
namespace {

struct SoftmaxCrossEntropyNode final : autograd::Node {
  Status backward(autograd::Gradients& gradients) override {
    static const OperatorKindDesc desc = SoftmaxCrossEntropyDesc{};
    const Value* arrays[] = {&probability, &label, &gradients.head()};
    Value gradient = gradients.target(0);
    Status done =
        invoke(site, {.name = "_backward_SoftmaxOutput",
                      .desc = desc,
                      .pass = Pass::backward,
                      .phase = Phase::backward,
                      .inputs = arrays,
                      .outputs = {&gradient, 1},
                      .flop = [](const Prepared& p) -> Flop { return 2 * p.at_hand[0].shape.elements(); },
                      .tag = MemoryTag::gradients});
    return done.has_value() ? gradients.give(0, gradient) : std::move(done);
  }

  Value probability, label;
};

}  // namespace

constinit const OperatorKind SoftmaxCrossEntropyDesc::kKind =
    OperatorKind::of<SoftmaxCrossEntropyDesc>("SoftmaxCrossEntropy");

Result<Signature> SoftmaxCrossEntropyDesc::infer(const ShapeQuery& q) const {
  if (!q.isForward() && q.pass != Pass::backward) return q.noSuchPass();
  PITWALL_TRY(q.expectInputs(q.isForward() ? 2 : 3));
  const Shape& data = q.shape(0);
  if (data.rank() != 2 || data[1] < 1) return q.wrong("scores must have 2 axes (N x C)");
  const Shape samples{data[0]};
  PITWALL_TRY(q.expectShape(1, samples, "label"));
  if (q.isForward()) return q.signature({samples, data});
  PITWALL_TRY(q.expectShape(2, samples, "dloss"));
  return q.signature({data});
}

Result<NDArray> op::softmaxCrossEntropy(const NDArray& data, const NDArray& label, const CallSite& site) {
  PITWALL_TRY(requireArrays(site, "SoftmaxOutput", {{"data", data}, {"label", label}}));
  static const OperatorKindDesc desc = SoftmaxCrossEntropyDesc{};
  const Value* inputs[] = {&valueOf(data), &valueOf(label)};
  Value outputs[2];
  // Maximum, difference, exponential, sum and quotient of each score.
  PITWALL_TRY(invoke(site.state(),
                     {.name = "SoftmaxOutput",
                      .desc = desc,
                      .pass = Pass::forward,
                      .phase = Phase::forward,
                      .inputs = inputs,
                      .outputs = outputs,
                      .flop = [](const Prepared& p) -> Flop { return 5 * p.at_hand[0].shape.elements(); }}));
  NDArray loss = makeArray(outputs[0]);
  if (autograd::shouldRecord({&data})) {
    auto node = std::make_shared<SoftmaxCrossEntropyNode>();
    node->inputs = {data};
    node->site = site.state();
    node->probability = outputs[1];
    node->label = valueOf(label);
    autograd::recordNode(loss, std::move(node));
  }
  return loss;
}

}  // namespace pitwall
