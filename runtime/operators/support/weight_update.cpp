#include "runtime/operators/support/weight_update.h"

#include <fmt/format.h>

#include "db/try.h"

namespace pitwall {
namespace {

Status checkArrays(const UpdateCall& call) {
  for (std::size_t i = 0; i < call.weights.size(); ++i) {
    const NDArray& weight = *call.weights[i];
    if (!weight || !weight.gradient())
      return fail(ErrorCode::invalidInput,
                  fmt::format("{}: a weight has no gradient; call attachGradient() on it first", call.name));
    for (const auto& states : call.states) {
      if (states.arrays.empty()) continue;
      const NDArray& state = *states.arrays[i];
      if (state && state.shape() == weight.shape()) continue;
      return fail(
          ErrorCode::invalidInput,
          fmt::format("{}: the {} of a weight of shape {} is {}", call.name, states.name,
                      weight.shape().toString(), state ? "of shape " + state.shape().toString() : "missing"));
    }
  }
  return {};
}

}  // namespace

Result<Signature> updateSignature(const ShapeQuery& q, std::size_t states) {
  if (q.pass != Pass::forward) return q.noSuchPass();
  if (q.inputs.empty()) return q.wrong("takes at least one gradient");
  Signature s = q.signature({});
  for (std::size_t i = 0; i <= states; ++i)
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
    updated.push_back(valueOf(*weight));
  }
  for (const auto& states : call.states) {
    for (std::size_t i = 0; i < states.arrays.size(); ++i) {
      const Value& state = valueOf(*states.arrays[i]);
      PITWALL_TRY(convertLayout(site.state(), state, valueOf(*call.weights[i]).chunk->layout, Phase::update));
      updated.push_back(state);
    }
  }
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
