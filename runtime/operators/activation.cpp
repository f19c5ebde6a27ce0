#include "runtime/operators/activation.h"

#include "db/try.h"
#include "runtime/array/call.h"
#include "runtime/autograd.h"
#include "runtime/autograd/node.h"
#include "runtime/backend/support/signature.h"

namespace pitwall {
namespace {

// Selects the one of data and out that the gradient needs; the other may be freed.
bool readsData(const OperatorKindDesc& desc) {
  return desc.as<ActivationDesc>().type == ActivationType::softrelu;
}

struct ActivationNode final : autograd::Node {
  Status backward(autograd::Gradients& gradients) override {
    const Value* arrays[] = {&kept, &kept, &gradients.head()};
    Value gradient = gradients.target(0);
    Status done = invoke(site, {.name = "_backward_Activation",
                                .desc = desc,
                                .pass = Pass::backward,
                                .phase = Phase::backward,
                                .inputs = arrays,
                                .outputs = {&gradient, 1},
                                .flop = onePerElement,
                                .tag = MemoryTag::gradients});
    return done.has_value() ? gradients.give(0, gradient) : std::move(done);
  }

  OperatorKindDesc desc;
  Value kept;  // data or out, passed for both: the kernel reads only this one
};

}  // namespace

constinit const OperatorKind ActivationDesc::kKind = OperatorKind::of<ActivationDesc>("Activation");

Result<Signature> ActivationDesc::infer(const ShapeQuery& q) const {
  if (q.isForward()) {
    PITWALL_TRY(q.expectInputs(1));
    return q.signature({q.shape(0)});
  }
  if (q.pass != Pass::backward) return q.noSuchPass();
  PITWALL_TRY(q.expectInputs(3));
  PITWALL_TRY(q.expectShape(1, q.shape(0), "out"));
  PITWALL_TRY(q.expectShape(2, q.shape(0), "dout"));
  return q.signature({q.shape(0)});
}

Result<NDArray> op::activation(const NDArray& data, const ActivationDesc& kind, const CallSite& site) {
  PITWALL_TRY(requireArrays(site, "Activation", {{"data", data}}));
  const OperatorKindDesc desc = kind;
  const Value* inputs[] = {&valueOf(data)};
  Value output;
  PITWALL_TRY(invoke(site.state(), {.name = "Activation",
                                    .desc = desc,
                                    .pass = forwardPass(autograd::isRecording()),
                                    .phase = Phase::forward,
                                    .inputs = inputs,
                                    .outputs = {&output, 1},
                                    .flop = onePerElement}));
  NDArray result = makeArray(output);
  if (autograd::shouldRecord({&data})) {
    auto node = std::make_shared<ActivationNode>();
    node->inputs = {data};
    node->site = site.state();
    node->desc = desc;
    node->kept = readsData(desc) ? valueOf(data) : output;
    autograd::recordNode(result, std::move(node));
  }
  return result;
}

}  // namespace pitwall
