#include "runtime/operators/pooling.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/array/call.h"
#include "runtime/autograd.h"
#include "runtime/autograd/node.h"
#include "runtime/backend/support/signature.h"

namespace pitwall {
namespace {

// One comparison or addition per element in each window (windows at edges count as full).
Flop windowFlop(const Prepared& p, const Shape& out) {
  const auto& kernel = p.desc.as<PoolingDesc>().kernel;
  return out.elements() * kernel[0] * kernel[1];
}

struct PoolingNode final : autograd::Node {
  Status backward(autograd::Gradients& gradients) override {
    const Value* arrays[] = {&valueOf(inputs[0]), &out, &gradients.head(), &workspace};
    Value gradient = gradients.target(0);
    Status done = invoke(site, {.name = "_backward_Pooling",
                                .desc = desc,
                                .pass = Pass::backward,
                                .phase = Phase::backward,
                                .inputs = arrays,
                                .outputs = {&gradient, 1},
                                .flop = [](const Prepared& p) { return windowFlop(p, p.at_hand[1].shape); },
                                .tag = MemoryTag::gradients});
    return done.has_value() ? gradients.give(0, gradient) : std::move(done);
  }

  OperatorKindDesc desc;
  Value out, workspace;
};

}  // namespace

constinit const OperatorKind PoolingDesc::kKind =
    OperatorKind::of<PoolingDesc>("Pooling", KeepsWorkspace{true});

Result<Signature> PoolingDesc::infer(const ShapeQuery& q) const {
  if (!q.isForward() && q.pass != Pass::backward) return q.noSuchPass();
  PITWALL_TRY(q.expectInputs(q.pass == Pass::backward ? 4 : 1));
  PITWALL_TRY(checkWindow(q, *this));
  const Shape& data = q.shape(0);
  if (data.rank() != 4) return q.wrong("data must have 4 axes (NCHW)");
  if (pad[0] >= kernel[0] || pad[1] >= kernel[1]) return q.wrong("pad must be less than the kernel");
  const Shape out{data[0], data[1], slidingExtent(data[2], kernel[0], stride[0], pad[0], 1),
                  slidingExtent(data[3], kernel[1], stride[1], pad[1], 1)};
  if (out[2] < 1 || out[3] < 1) {
    return q.wrong(
        fmt::format("a {}x{} window does not fit into {}x{} data", kernel[0], kernel[1], data[2], data[3]));
  }
  if (q.pass == Pass::inference) return q.signature({out});
  if (q.pass == Pass::forward) return q.withWorkspace({out});
  PITWALL_TRY(q.expectShape(1, out, "out"));
  PITWALL_TRY(q.expectShape(2, out, "dout"));
  PITWALL_TRY(q.expectWorkspace(3));
  return q.signature({data});
}

Result<NDArray> op::pooling(const NDArray& data, const PoolingDesc& kind, const CallSite& site) {
  PITWALL_TRY(requireArrays(site, "Pooling", {{"data", data}}));
  const bool recording = autograd::isRecording();
  const OperatorKindDesc desc = kind;
  const Value* inputs[] = {&valueOf(data)};
  Value outputs[2];
  PITWALL_TRY(invoke(
      site.state(), {.name = "Pooling",
                     .desc = desc,
                     .pass = forwardPass(recording),
                     .phase = Phase::forward,
                     .inputs = inputs,
                     .outputs = {outputs, recording ? 2U : 1U},
                     .flop = [](const Prepared& p) { return windowFlop(p, p.kernel->outputs()[0].shape); }}));
  NDArray result = makeArray(outputs[0]);
  if (autograd::shouldRecord({&data})) {
    auto node = std::make_shared<PoolingNode>();
    node->inputs = {data};
    node->site = site.state();
    node->desc = desc;
    node->out = outputs[0];
    node->workspace = outputs[1];
    autograd::recordNode(result, std::move(node));
  }
  return result;
}

}  // namespace pitwall
