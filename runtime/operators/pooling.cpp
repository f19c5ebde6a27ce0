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
  const auto kernel = p.desc.as<PoolingDesc>().over(p.at_hand[0].shape).kernel;
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

// Of the convention full, one more where the others leave a rest.
std::int64_t windows(const PoolingDesc& d, std::int64_t data, std::size_t axis) {
  const std::int64_t kernel = d.kernel[axis], stride = d.stride[axis], pad = d.pad[axis];
  const std::int64_t inside = slidingExtent(data, kernel, stride, pad, 1);
  const bool rest = inside > 0 && (inside - 1) * stride + kernel < data + 2 * pad;
  return inside + (rest && d.convention == PoolingConvention::full ? 1 : 0);
}

}  // namespace

constinit const OperatorKind PoolingDesc::kKind =
    OperatorKind::of<PoolingDesc>("Pooling", KeepsWorkspace{true});

PoolingDesc PoolingDesc::over(const Shape& data) const {
  PoolingDesc d = *this;
  if (global && data.rank() == 4) {
    d.kernel = {data[2], data[3]};
    d.stride = {1, 1};
    d.pad = {0, 0};
    d.global = false;
  }
  return d;
}

Result<Signature> PoolingDesc::infer(const ShapeQuery& q) const {
  if (!q.isForward() && q.pass != Pass::backward) return q.noSuchPass();
  PITWALL_TRY(q.expectInputs(q.pass == Pass::backward ? 4 : 1));
  const Shape& data = q.shape(0);
  if (data.rank() != 4) return q.wrong("data must have 4 axes (NCHW)");
  const PoolingDesc d = over(data);
  PITWALL_TRY(checkWindow(q, d));
  if (d.pad[0] >= d.kernel[0] || d.pad[1] >= d.kernel[1]) return q.wrong("pad must be less than the kernel");
  const Shape out{data[0], data[1], windows(d, data[2], 0), windows(d, data[3], 1)};
  for (int i = 2; i < 4; ++i) {
    const auto axis = static_cast<std::size_t>(i - 2);
    if (out[i] < 1)
      return q.wrong(fmt::format("a {}x{} window does not fit into {}x{} data", d.kernel[0], d.kernel[1],
                                 data[2], data[3]));
    if ((out[i] - 1) * d.stride[axis] - d.pad[axis] >= data[i])
      return q.wrong(fmt::format(
          "the last window begins at {}, after the {} elements of axis {}; use the convention valid",
          (out[i] - 1) * d.stride[axis] - d.pad[axis], data[i], i));
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
