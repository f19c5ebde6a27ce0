#include "runtime/autograd.h"
#include "runtime/autograd/node.h"
#include "runtime/operators/call.h"

namespace pitwall {
namespace {

Flop onePerElement(const Prepared& p) { return p.at_hand[0].shape.elements(); }

struct DropoutNode final : autograd::Node {
  Status backward(autograd::Gradients& gradients) override {
    const Value* arrays[] = {&gradients.head(), &mask};
    Value gradient = gradients.target(0);
    Status done = invoke(site, {.name = "_backward_Dropout",
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
  Value mask;
};

}  // namespace

Result<NDArray> op::dropout(const NDArray& data, const DropoutDesc& kind, std::uint64_t seed,
                            const CallSite& site) {
  Status given = requireArrays(site, "Dropout", {{"data", data}});
  if (!given.has_value()) return fail(given.error());
  if (!autograd::isRecording()) return data;
  const OperatorKindDesc desc = kind;
  const Value* inputs[] = {&valueOf(data)};
  Value outputs[2];
  Status done = invoke(site.state(), {.name = "Dropout",
                                      .desc = desc,
                                      .pass = Pass::forward,
                                      .phase = Phase::forward,
                                      .inputs = inputs,
                                      .outputs = outputs,
                                      .flop = onePerElement,
                                      .seed = seed});
  if (!done.has_value()) return fail(done.error());
  NDArray result = makeArray(outputs[0]);
  if (autograd::shouldRecord({&data})) {
    auto node = std::make_shared<DropoutNode>();
    node->inputs = {data};
    node->site = site.state();
    node->desc = desc;
    node->mask = outputs[1];
    autograd::recordNode(result, std::move(node));
  }
  return result;
}

}  // namespace pitwall
