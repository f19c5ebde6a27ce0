#include "runtime/operators/pooling.h"

#include <fmt/format.h>

#include <algorithm>

#include "db/try.h"
#include "runtime/array/call.h"
#include "runtime/autograd.h"
#include "runtime/autograd/node.h"
#include "runtime/backend/support/signature.h"
#include "runtime/operators/support/integers.h"

namespace pitwall {
namespace {

// One comparison or addition per element in each window (windows at edges count as full); of a norm also its power.
Flop windowFlop(const Prepared& p, const Shape& out) {
  const auto desc = p.desc.as<PoolingDesc>().over(p.at_hand[0].shape);
  return out.elements() * desc.kernel[0] * desc.kernel[1] * (desc.type == PoolingType::norm ? desc.power : 1);
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
    OperatorKind::of<PoolingDesc>("Pooling", KeepsWorkspace{true}, ChecksTypes{true});

PoolingDesc PoolingDesc::over(const Shape& data) const {
  PoolingDesc d = *this;
  if (global && (data.rank() == 3 || data.rank() == 4)) {
    d.kernel = {data.rank() == 4 ? data[2] : 1, data[data.rank() - 1]};
    d.stride = {1, 1};
    d.pad = {0, 0};
    d.global = false;
  }
  return d;
}

// Inference has maxima and averages of 8-bit numbers too.
static Status checkTypes(const PoolingDesc& d, const ShapeQuery& q) {
  const bool has_eight_bit =
      q.pass == Pass::inference && (d.type == PoolingType::max || d.type == PoolingType::average);
  for (std::size_t i = 0; i < std::min<std::size_t>(q.inputs.size(), 3); ++i)
    if (!has_eight_bit || !isEightBit(q.inputs[i].dtype)) PITWALL_TRY(q.expectReal(i));
  return {};
}

Result<Signature> PoolingDesc::infer(const ShapeQuery& q) const {
  if (!q.isForward() && q.pass != Pass::backward) return q.noSuchPass();
  PITWALL_TRY(q.expectInputs(q.pass == Pass::backward ? 4 : 1));
  PITWALL_TRY(checkTypes(*this, q));
  const Shape& data = q.shape(0);
  const PoolingDesc d = over(data);
  PITWALL_TRY(checkWindow(q, d, data));
  if (d.pad[0] >= d.kernel[0] || d.pad[1] >= d.kernel[1]) return q.wrong("pad must be less than the kernel");
  if (type == PoolingType::norm && (power < 1 || power > 3))
    return q.wrong(fmt::format("the power of a norm is {}: must be 1, 2 or 3", power));
  Shape out{data[0], data[1]};
  for (std::size_t i = firstOfWindow(data); i < 2; ++i) {
    const int axis = static_cast<int>(i) + data.rank() - 2;
    out.append(windows(d, data[axis], i));
    if (out[axis] < 1)
      return q.wrong(
          fmt::format("a {}x{} window does not fit into {} data", d.kernel[0], d.kernel[1], data.toString()));
    const std::int64_t last = (out[axis] - 1) * d.stride[i] - d.pad[i];
    if (last >= data[axis])
      return q.wrong(fmt::format(
          "the last window begins at {}, after the {} elements of axis {}; use the convention valid", last,
          data[axis], axis));
  }
  if (q.pass == Pass::inference) {
    Signature s = q.signature({out});
    s.outputs[0].dtype = q.inputs[0].dtype;
    return s;
  }
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
