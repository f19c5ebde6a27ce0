// Local response normalisation across channels.
#include "runtime/operators/lrn.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/array/call.h"
#include "runtime/autograd.h"
#include "runtime/autograd/node.h"
#include "runtime/backend/support/signature.h"

namespace pitwall {
namespace {

// Per element: a square, the sum over the window, scale and addition, a power (counted as one), a product.
Flop lrnFlop(const Prepared& p) { return (p.desc.as<LrnDesc>().nsize + 5) * p.at_hand[0].shape.elements(); }
// The norms, two products and a power for each element of the window's sum, and five for the difference.
Flop lrnGradientFlop(const Prepared& p) {
  return (2 * p.desc.as<LrnDesc>().nsize + 11) * p.at_hand[0].shape.elements();
}

struct LrnNode final : autograd::Node {
  Status backward(autograd::Gradients& gradients) override {
    const Value* arrays[] = {&valueOf(inputs[0]), &gradients.head(), &workspace};
    Value gradient = gradients.target(0);
    Status done = invoke(site, {.name = "_backward_LRN",
                                .desc = desc,
                                .pass = Pass::backward,
                                .phase = Phase::backward,
                                .inputs = arrays,
                                .outputs = {&gradient, 1},
                                .flop = lrnGradientFlop,
                                .tag = MemoryTag::gradients});
    return done.has_value() ? gradients.give(0, gradient) : std::move(done);
  }

  OperatorKindDesc desc;
  Value workspace;
};

}  // namespace

constinit const OperatorKind LrnDesc::kKind = OperatorKind::of<LrnDesc>("LRN", KeepsWorkspace{true});

Result<Signature> LrnDesc::infer(const ShapeQuery& q) const {
  if (!q.isForward() && q.pass != Pass::backward) return q.noSuchPass();
  PITWALL_TRY(q.expectInputs(q.pass == Pass::backward ? 3 : 1));
  const Shape& data = q.shape(0);
  if (data.rank() != 4) return q.wrong("data must have 4 axes (NCHW)");
  if (nsize < 1 || nsize % 2 == 0) return q.wrong(fmt::format("nsize {}: must be odd and at least 1", nsize));
  if (q.pass == Pass::inference) return q.signature({data});
  if (q.pass == Pass::forward) return q.withWorkspace({data});
  PITWALL_TRY(q.expectShape(1, data, "dout"));
  PITWALL_TRY(q.expectWorkspace(2));
  return q.signature({data});
}

Result<NDArray> op::lrn(const NDArray& data, const LrnDesc& kind, const CallSite& site) {
  PITWALL_TRY(requireArrays(site, "LRN", {{"data", data}}));
  const bool recording = autograd::isRecording();
  const OperatorKindDesc desc = kind;
  const Value* inputs[] = {&valueOf(data)};
  Value outputs[2];
  PITWALL_TRY(invoke(site.state(), {.name = "LRN",
                                    .desc = desc,
                                    .pass = forwardPass(recording),
                                    .phase = Phase::forward,
                                    .inputs = inputs,
                                    .outputs = {outputs, recording ? 2U : 1U},
                                    .flop = lrnFlop}));
  NDArray result = makeArray(outputs[0]);
  if (autograd::shouldRecord({&data})) {
    auto node = std::make_shared<LrnNode>();
    node->inputs = {data};
    node->site = site.state();
    node->desc = desc;
    node->workspace = outputs[1];
    autograd::recordNode(result, std::move(node));
  }
  return result;
}

}  // namespace pitwall
