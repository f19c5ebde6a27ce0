#include "runtime/operators/support/weight_update.h"

#include <fmt/format.h>

#include "db/try.h"

namespace pitwall {
namespace {

Status checkState(const UpdateCall& call, const NDArray& weight, const char* name, const NDArray& state) {
  if (state && state.shape() == weight.shape()) return {};
  return fail(
      ErrorCode::invalidInput,
      fmt::format("{}: the {} of a weight of shape {} is {}", call.name, name, weight.shape().toString(),
                  state ? "of shape " + state.shape().toString() : "missing"));
}

Status checkArrays(const UpdateCall& call) {
  for (std::size_t i = 0; i < call.weights.size(); ++i) {
    const NDArray& weight = *call.weights[i];
    if (!weight || !weight.gradient())
      return fail(ErrorCode::invalidInput,
                  fmt::format("{}: a weight has no gradient; call attachGradient() on it first", call.name));
    for (const auto& states : call.states)
      if (!states.arrays.empty()) PITWALL_TRY(checkState(call, weight, states.name, *states.arrays[i]));
    if (!call.masters.empty()) PITWALL_TRY(checkState(call, weight, "master", *call.masters[i]));
  }
  return {};
}

// An array that the update reads and writes, in the layout of its weight.
Result<Value> asWeight(const NDArray& array, const NDArray& weight, const CallSite& site) {
  const Value &value = valueOf(array), &of = valueOf(weight);
  const DType type = value.chunk->dtype;
  const LayoutPtr layout = type == of.chunk->dtype ? of.chunk->layout : layoutOfType(of.chunk->layout, type);
  PITWALL_TRY(convertLayout(site.state(), value, layout, Phase::update));
  return value;
}

}  // namespace

Result<Signature> updateSignature(const ShapeQuery& q, std::size_t states, bool multi_precision) {
  if (q.pass != Pass::forward) return q.noSuchPass();
  if (q.inputs.empty()) return q.wrong("takes at least one gradient");
  Signature s = q.signature({});
  for (std::size_t i = 0; i <= states; ++i)
    s.outputs.insert(s.outputs.end(), s.inputs.begin(), s.inputs.end());
  if (!multi_precision) return s;
  for (TensorSpec& spec : s.outputs) spec.dtype = DType::float32;
  s.outputs.insert(s.outputs.end(), s.inputs.begin(), s.inputs.end());
  return s;
}

// Weight, gradient and states must have the same layout; the gradient of a used weight already has it.
Status updateWeights(const UpdateCall& call, const CallSite& site) {
  if (call.weights.empty()) return {};
  PITWALL_TRY(checkArrays(call));
  std::vector<Value> gradients, updated;
  gradients.reserve(call.weights.size());
  for (const NDArray* weight : call.weights) {
    Value gradient = PITWALL_TRY(
        withLayout(site.state(), valueOf(weight->gradient()), valueOf(*weight).chunk->layout, Phase::update));
    gradients.push_back(std::move(gradient));
  }
  const auto update = [&](const std::vector<const NDArray*>& arrays) -> Status {
    for (std::size_t i = 0; i < arrays.size(); ++i)
      updated.push_back(PITWALL_TRY(asWeight(*arrays[i], *call.weights[i], site)));
    return {};
  };
  PITWALL_TRY(update(call.masters.empty() ? call.weights : call.masters));
  for (const auto& states : call.states) PITWALL_TRY(update(states.arrays));
  if (!call.masters.empty()) PITWALL_TRY(update(call.weights));
  std::vector<const Value*> inputs;
  inputs.reserve(gradients.size());
  for (const Value& gradient : gradients) inputs.push_back(&gradient);
  return invoke(site.state(), {.name = call.name,
                               .desc = call.desc,
                               .pass = Pass::forward,
                               .phase = Phase::update,
                               .inputs = inputs,
                               .outputs = updated,
                               .updates_from = 0,
                               .flop = call.flop,
                               .rate = call.step.rate,
                               .rescale = call.step.rescale});
}

}  // namespace pitwall
