#include "runtime/operators/clip.h"

#include <fmt/format.h>

#include <cmath>

#include "db/try.h"
#include "runtime/array/call.h"
#include "runtime/autograd.h"
#include "runtime/autograd/node.h"
#include "runtime/backend/support/signature.h"

namespace pitwall {
namespace {

// Two comparisons.
Flop clipFlop(const Prepared& p) { return 2 * p.at_hand[0].shape.elements(); }

// Needs the output alone: the data may be freed.
struct ClipNode final : autograd::Node {
  Status backward(autograd::Gradients& gradients) override {
    const Value* arrays[] = {&out, &gradients.head()};
    Value gradient = gradients.target(0);
    PITWALL_TRY(invoke(site, {.name = "_backward_clip",
                              .desc = desc,
                              .pass = Pass::backward,
                              .phase = Phase::backward,
                              .inputs = arrays,
                              .outputs = {&gradient, 1},
                              .flop = clipFlop,
                              .tag = MemoryTag::gradients}));
    return gradients.give(0, gradient);
  }

  OperatorKindDesc desc;
  Value out;
};

}  // namespace

constinit const OperatorKind ClipDesc::kKind = OperatorKind::of<ClipDesc>("clip");

Result<Signature> ClipDesc::infer(const ShapeQuery& q) const {
  if (!q.isForward() && q.pass != Pass::backward) return q.noSuchPass();
  if (!std::isfinite(minimum) || !std::isfinite(maximum) || minimum > maximum)
    return q.wrong(fmt::format("the range is {} to {}: must be finite, the minimum first", minimum, maximum));
  PITWALL_TRY(q.expectInputs(q.pass == Pass::backward ? 2 : 1));
  if (q.pass == Pass::backward) PITWALL_TRY(q.expectShape(1, q.shape(0), "dout"));
  return q.signature({q.shape(0)});
}

Result<NDArray> op::clip(const NDArray& data, const ClipDesc& kind, const CallSite& site) {
  PITWALL_TRY(requireArrays(site, "clip", {{"data", data}}));
  const OperatorKindDesc desc = kind;
  const Value* inputs[] = {&valueOf(data)};
  Value output;
  PITWALL_TRY(invoke(site.state(), {.name = "clip",
                                    .desc = desc,
                                    .pass = forwardPass(autograd::isRecording()),
                                    .phase = Phase::forward,
                                    .inputs = inputs,
                                    .outputs = {&output, 1},
                                    .flop = clipFlop}));
  NDArray result = makeArray(output);
  if (autograd::shouldRecord({&data})) {
    auto node = std::make_shared<ClipNode>();
    node->inputs = {data};
    node->site = site.state();
    node->desc = desc;
    node->out = output;
    autograd::recordNode(result, std::move(node));
  }
  return result;
}

}  // namespace pitwall
