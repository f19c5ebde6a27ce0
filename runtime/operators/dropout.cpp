#include "runtime/operators/dropout.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/array/call.h"
#include "runtime/autograd.h"
#include "runtime/autograd/node.h"
#include "runtime/backend/support/signature.h"

namespace pitwall {
namespace {

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

constinit const OperatorKind DropoutDesc::kKind = OperatorKind::of<DropoutDesc>("Dropout");

Result<Signature> DropoutDesc::infer(const ShapeQuery& q) const {
  if (q.pass != Pass::forward && q.pass != Pass::backward) return q.noSuchPass();
  if (!(rate >= 0 && rate < 1)) return q.wrong(fmt::format("rate {}: must be in [0, 1)", rate));
  PITWALL_TRY(q.expectInputs(q.pass == Pass::forward ? 1 : 2));
  if (q.pass == Pass::forward) return q.signature({q.shape(0), q.shape(0)});
  PITWALL_TRY(q.expectShape(1, q.shape(0), "mask"));
  return q.signature({q.shape(0)});
}

Result<NDArray> op::dropout(const NDArray& data, const DropoutDesc& kind, std::uint64_t seed,
                            const CallSite& site) {
  PITWALL_TRY(requireArrays(site, "Dropout", {{"data", data}}));
  if (!autograd::isRecording()) return data;
  const OperatorKindDesc desc = kind;
  const Value* inputs[] = {&valueOf(data)};
  Value outputs[2];
  PITWALL_TRY(invoke(site.state(), {.name = "Dropout",
                                    .desc = desc,
                                    .pass = Pass::forward,
                                    .phase = Phase::forward,
                                    .inputs = inputs,
                                    .outputs = outputs,
                                    .flop = onePerElement,
                                    .seed = seed}));
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
