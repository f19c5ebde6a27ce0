#include "runtime/autograd.h"
#include "runtime/autograd/node.h"
#include "runtime/operators/call.h"

namespace pitwall {
namespace {

// One comparison or addition per element in each window (windows at edges count as full).
Flop windowFlop(const Prepared& p, const Shape& out) {
  const auto& kernel = std::get<PoolingDesc>(p.desc).kernel;
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

Result<NDArray> op::pooling(const NDArray& data, const PoolingDesc& kind, const CallSite& site) {
  Status given = requireArrays(site, "Pooling", {{"data", data}});
  if (!given.has_value()) return fail(given.error());
  const bool recording = autograd::isRecording();
  const OperatorKindDesc desc = kind;
  const Value* inputs[] = {&valueOf(data)};
  Value outputs[2];
  Status done = invoke(
      site.state(), {.name = "Pooling",
                     .desc = desc,
                     .pass = forwardPass(recording),
                     .phase = Phase::forward,
                     .inputs = inputs,
                     .outputs = {outputs, recording ? 2U : 1U},
                     .flop = [](const Prepared& p) { return windowFlop(p, p.kernel->outputs()[0].shape); }});
  if (!done.has_value()) return fail(done.error());
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
