#include "runtime/operators/batch_norm.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/array/call.h"
#include "runtime/autograd.h"
#include "runtime/autograd/node.h"
#include "runtime/backend/support/signature.h"

namespace pitwall {
namespace {

enum Input : std::size_t { kData, kGamma, kBeta };

// Mean, variance, normalise, scale, shift: about this many operations per element.
Flop batchNormFlop(const Prepared& p) {
  const auto& desc = p.desc.as<BatchNormDesc>();
  const Flop per_element = p.pass == Pass::inference || desc.use_global_stats ? (desc.relu ? 3 : 2) : 7;
  return per_element * p.at_hand[0].shape.elements();
}
Flop batchNormGradientFlop(const Prepared& p) { return 11 * p.at_hand[0].shape.elements(); }

struct BatchNormNode final : autograd::Node {
  Status backward(autograd::Gradients& gradients) override {
    const Value* arrays[] = {&valueOf(inputs[kData]), &valueOf(inputs[kGamma]), &mean, &variance,
                             &gradients.head()};
    Value made[] = {gradients.target(kData), gradients.target(kGamma), gradients.target(kBeta)};
    Status done = invoke(site, {.name = "_backward_BatchNorm",
                                .desc = desc,
                                .pass = Pass::backward,
                                .phase = Phase::backward,
                                .inputs = arrays,
                                .outputs = made,
                                .flop = batchNormGradientFlop,
                                .tag = MemoryTag::gradients});
    for (std::size_t i = 0; i < 3 && done.has_value(); ++i) done = gradients.give(i, made[i]);
    return done;
  }

  OperatorKindDesc desc;
  Value mean, variance;  // of the batch
};

Result<NDArray> inference(const NDArray& data, const op::BatchNormState& state, const OperatorKindDesc& desc,
                          const CallSite& site) {
  const Value* inputs[] = {&valueOf(data), &valueOf(state.gamma), &valueOf(state.beta),
                           &valueOf(state.running_mean), &valueOf(state.running_variance)};
  Value output;
  PITWALL_TRY(invoke(site.state(), {.name = "BatchNorm",
                                    .desc = desc,
                                    .pass = Pass::inference,
                                    .phase = Phase::forward,
                                    .inputs = inputs,
                                    .outputs = {&output, 1},
                                    .flop = batchNormFlop}));
  return makeArray(output);
}

}  // namespace

constinit const OperatorKind BatchNormDesc::kKind = OperatorKind::of<BatchNormDesc>("BatchNorm");

Result<Signature> BatchNormDesc::infer(const ShapeQuery& q) const {
  static constexpr const char* kNames[][6] = {{"data", "gamma", "beta", "running_mean", "running_var"},
                                              {"data", "gamma", "beta"},
                                              {"data", "gamma", "saved_mean", "saved_var", "dout", "beta"}};
  if (!q.isForward() && q.pass != Pass::backward) return q.noSuchPass();
  PITWALL_TRY(q.expectInputs(q.pass == Pass::forward ? 3 : q.pass == Pass::backward && relu ? 6 : 5));
  const Shape& data = q.shape(0);
  if (data.rank() < 2 || data.rank() > 4) return q.wrong("data must have 2 to 4 axes (NC, NCW or NCHW)");
  const Shape channels{data[1]};
  const std::size_t row = q.pass == Pass::inference ? 0 : q.pass == Pass::forward ? 1 : 2;
  for (std::size_t i = 1; i < q.inputs.size(); ++i) {
    const bool is_dout = row == 2 && i == 4;
    PITWALL_TRY(q.expectShape(i, is_dout ? data : channels, kNames[row][i]));
    if (!is_dout && q.inputs[i].dtype != DType::float32)
      return fail(ErrorCode::unsupported,
                  fmt::format("{}: {} is {}, must be float32, as are all numbers of channels",
                              describeRequest(q.desc, q.pass, q.inputs, q.like), kNames[row][i],
                              toString(q.inputs[i].dtype)));
  }
  Signature s = q.pass == Pass::inference ? q.signature({data})
                : q.pass == Pass::forward ? q.signature({data, channels, channels, channels, channels})
                                          : q.signature({data, channels, channels});
  for (std::size_t i = 1; i < s.outputs.size(); ++i) s.outputs[i].dtype = DType::float32;
  return s;
}

Result<NDArray> op::batchNorm(const NDArray& data, const BatchNormState& state, const BatchNormDesc& kind,
                              const CallSite& site) {
  PITWALL_TRY(requireArrays(site, "BatchNorm",
                            {{"data", data},
                             {"gamma", state.gamma},
                             {"beta", state.beta},
                             {"running_mean", state.running_mean},
                             {"running_variance", state.running_variance}}));
  const OperatorKindDesc desc = kind;
  if (!autograd::isRecording()) return inference(data, state, desc, site);

  const Value* inputs[] = {&valueOf(data), &valueOf(state.gamma), &valueOf(state.beta)};
  Value outputs[] = {{}, {}, {}, valueOf(state.running_mean), valueOf(state.running_variance)};
  PITWALL_TRY(invoke(site.state(), {.name = "BatchNorm",
                                    .desc = desc,
                                    .pass = Pass::forward,
                                    .phase = Phase::forward,
                                    .inputs = inputs,
                                    .outputs = outputs,
                                    .updates_from = 3,
                                    .flop = batchNormFlop}));
  NDArray result = makeArray(outputs[0]);
  if (autograd::shouldRecord({&data, &state.gamma, &state.beta})) {
    auto node = std::make_shared<BatchNormNode>();
    node->inputs = {data, state.gamma, state.beta};
    node->site = site.state();
    node->desc = desc;
    node->mean = outputs[1];
    node->variance = outputs[2];
    autograd::recordNode(result, std::move(node));
  }
  return result;
}

}  // namespace pitwall
