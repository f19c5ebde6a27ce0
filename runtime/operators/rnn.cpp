#include "runtime/operators/rnn.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/array/call.h"
#include "runtime/autograd.h"
#include "runtime/autograd/node.h"
#include "runtime/backend/support/rnn.h"
#include "runtime/backend/support/signature.h"

namespace pitwall {
namespace {

RnnExtents extentsOf(const RnnDesc& d, const Shape& data) { return {d, data[0], data[1], data[2]}; }

// The products of all gates with data and state.
Flop rnnFlop(const Prepared& p) {
  const RnnExtents e = extentsOf(p.desc.as<RnnDesc>(), p.at_hand[0].shape);
  Flop flop = 0;
  for (std::int64_t layer = 0; layer < e.desc.layers; ++layer)
    flop += 2 * e.directions() * e.rows() * e.gateRows() * (e.columnsOf(layer) + e.hidden());
  return flop;
}
Flop rnnGradientFlop(const Prepared& p) { return 2 * rnnFlop(p); }

struct RnnNode final : autograd::Node {
  Status backward(autograd::Gradients& gradients) override {
    const bool lstm = desc.as<RnnDesc>().type == RnnType::lstm;
    std::vector<const Value*> arrays;
    for (const NDArray& input : inputs) arrays.push_back(&valueOf(input));
    Value zeros{makeChunk(out.session(), out.device(), MemoryTag::gradients, DType::float32),
                inputs[2].shape()};
    fillConstant(zeros, 0, "_zeros", Phase::backward);
    arrays.insert(arrays.end(), {&out, &gradients.head(), &zeros});
    if (lstm) arrays.push_back(&zeros);
    arrays.push_back(&workspace);
    std::vector<Value> made;
    for (std::size_t i = 0; i < inputs.size(); ++i) made.push_back(i < 2 ? gradients.target(i) : Value{});
    PITWALL_TRY(invoke(site, {.name = "_backward_RNN",
                              .desc = desc,
                              .pass = Pass::backward,
                              .phase = Phase::backward,
                              .inputs = arrays,
                              .outputs = made,
                              .flop = rnnGradientFlop,
                              .tag = MemoryTag::gradients}));
    for (std::size_t i = 0; i < inputs.size(); ++i) PITWALL_TRY(gradients.give(i, made[i]));
    return {};
  }

  OperatorKindDesc desc;
  Value out, workspace;
};

}  // namespace

constinit const OperatorKind RnnDesc::kKind = OperatorKind::of<RnnDesc>("RNN", KeepsWorkspace{true});

std::int64_t RnnDesc::parameters(std::int64_t columns) const {
  return RnnExtents{*this, 1, 1, columns}.parameters();
}

Result<Signature> RnnDesc::infer(const ShapeQuery& q) const {
  if (!q.isForward() && q.pass != Pass::backward) return q.noSuchPass();
  const bool lstm = type == RnnType::lstm;
  const std::size_t given = lstm ? 4 : 3;
  PITWALL_TRY(q.expectInputs(q.isForward() ? given : 2 * given + 1));
  if (hidden < 1 || layers < 1)
    return q.wrong(fmt::format("{} hidden in {} layers: both must be at least 1", hidden, layers));
  if (!(dropout >= 0 && dropout < 1)) return q.wrong(fmt::format("dropout {}: must be in [0, 1)", dropout));
  const Shape& data = q.shape(0);
  if (data.rank() != 3) return q.wrong("data must have 3 axes (steps x samples x columns)");
  const RnnExtents e = extentsOf(*this, data);
  const Shape state{layers * e.directions(), data[1], hidden}, out{data[0], data[1], e.width()},
      parameters{e.parameters()};
  PITWALL_TRY(q.expectShape(1, parameters, "parameters"));
  PITWALL_TRY(q.expectShape(2, state, "state"));
  if (lstm) PITWALL_TRY(q.expectShape(3, state, "cell"));
  if (q.isForward()) {
    const bool keeps = q.pass == Pass::forward;
    if (lstm) return keeps ? q.withWorkspace({out, state, state}) : q.signature({out, state, state});
    return keeps ? q.withWorkspace({out, state}) : q.signature({out, state});
  }
  PITWALL_TRY(q.expectShape(given, out, "out"));
  PITWALL_TRY(q.expectShape(given + 1, out, "dout"));
  PITWALL_TRY(q.expectShape(given + 2, state, "dstate_out"));
  if (lstm) PITWALL_TRY(q.expectShape(given + 3, state, "dcell_out"));
  PITWALL_TRY(q.expectWorkspace(2 * given));
  const Bytes bytes = e.workspace() * sizeOf(DType::float32);
  if (q.inputs[2 * given].sizeBytes() != bytes)
    return q.wrong("the workspace is not that of the forward pass");
  if (lstm) return q.signature({data, parameters, state, state});
  return q.signature({data, parameters, state});
}

Result<RnnOutputs> op::rnn(const NDArray& data, const NDArray& parameters, const NDArray& state,
                           const NDArray& cell, const RnnDesc& kind, std::uint64_t seed,
                           const CallSite& site) {
  PITWALL_TRY(requireArrays(site, "RNN", {{"data", data}, {"parameters", parameters}, {"state", state}}));
  const bool lstm = kind.type == RnnType::lstm, recording = autograd::isRecording();
  if (lstm) PITWALL_TRY(requireArrays(site, "RNN", {{"cell", cell}}));
  const OperatorKindDesc desc = kind;
  std::vector<const Value*> inputs{&valueOf(data), &valueOf(parameters), &valueOf(state)};
  if (lstm) inputs.push_back(&valueOf(cell));
  std::vector<Value> outputs((lstm ? 3U : 2U) + (recording ? 1U : 0U));
  PITWALL_TRY(invoke(site.state(), {.name = "RNN",
                                    .desc = desc,
                                    .pass = forwardPass(recording),
                                    .phase = Phase::forward,
                                    .inputs = inputs,
                                    .outputs = outputs,
                                    .flop = rnnFlop,
                                    .seed = seed}));
  RnnOutputs results{makeArray(outputs[0]), makeArray(outputs[1]), lstm ? makeArray(outputs[2]) : NDArray()};
  if (autograd::shouldRecord({&data, &parameters, &state, &cell})) {
    auto node = std::make_shared<RnnNode>();
    node->inputs = {data, parameters, state};
    if (lstm) node->inputs.push_back(cell);
    node->site = site.state();
    node->desc = desc;
    node->out = outputs[0];
    node->workspace = outputs.back();
    autograd::recordNode(results.out, std::move(node));
  }
  return results;
}

}  // namespace pitwall
