#include "runtime/operators/support/weighted.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/autograd.h"
#include "runtime/autograd/node.h"

namespace pitwall {
namespace {

enum Input : std::size_t { kData, kWeight, kBias };

struct WeightedNode final : autograd::Node {
  WeightedNode(const WeightedNames& the_names, const OperatorKindDesc& the_desc)
      : names(the_names), desc(the_desc) {}

  Status backward(autograd::Gradients& gradients) override {
    Status done;
    if (gradients.wanted(kData)) done = backwardData(gradients);
    if (done.has_value() && (gradients.wanted(kWeight) || gradients.wanted(kBias)))
      done = backwardWeights(gradients);
    return done;
  }

  Status backwardData(autograd::Gradients& gradients) {
    const Value* arrays[] = {&gradients.head(), &valueOf(inputs[kWeight])};
    Value gradient = gradients.target(kData);
    Status done = invoke(site, {.name = names.backward,
                                .desc = desc,
                                .pass = Pass::backwardData,
                                .phase = Phase::backward,
                                .inputs = arrays,
                                .outputs = {&gradient, 1},
                                .like = &valueOf(inputs[kData]),
                                .flop = names.backward_data_flop,
                                .tag = MemoryTag::gradients});
    return done.has_value() ? gradients.give(kData, gradient) : std::move(done);
  }

  Status backwardWeights(autograd::Gradients& gradients) {
    const bool bias = inputs.size() > kBias;
    const Value* arrays[] = {&valueOf(inputs[kData]), &gradients.head()};
    Value made[] = {gradients.target(kWeight), bias ? gradients.target(kBias) : Value{}};
    Status done = invoke(site, {.name = names.backward,
                                .desc = desc,
                                .pass = Pass::backwardWeights,
                                .phase = Phase::backward,
                                .inputs = arrays,
                                .outputs = {made, bias ? 2U : 1U},
                                .like = &valueOf(inputs[kWeight]),
                                .flop = names.backward_weights_flop,
                                .tag = MemoryTag::gradients});
    if (done.has_value()) done = gradients.give(kWeight, made[0]);
    if (done.has_value() && bias) done = gradients.give(kBias, made[1]);
    return done;
  }

  const WeightedNames& names;
  const OperatorKindDesc desc;
};

}  // namespace

Result<Shape> weightedData(const ShapeQuery& q, bool bias, const FusedParts& fused) {
  if (q.pass == Pass::backward) return q.noSuchPass();
  const FusedActivation& activation = fused.activation;
  const bool activates = activation.type != FusedActivation::Type::none;
  if ((fused.adds || activates) && q.pass != Pass::inference)
    return q.wrong("a fused addition or activation is for inference only; train with an operator for each");
  if (activation.type == FusedActivation::Type::clip && !(activation.minimum <= activation.maximum))
    return q.wrong(fmt::format("the range of the fused clip is {} to {}: the minimum must be first",
                               activation.minimum, activation.maximum));
  const std::size_t weights = q.isForward() && bias ? 3 : 2;
  PITWALL_TRY(q.expectInputs(weights + (fused.adds ? 1 : 0)));
  if (q.pass != Pass::backwardData) return q.shape(0);
  if (q.like == nullptr) return q.wrong("the shape of ddata must be given (`like`)");
  return q.like->shape;
}

Flop fusedFlop(const Shape& out, bool bias, const FusedParts& fused) {
  using Type = FusedActivation::Type;
  const Type type = fused.activation.type;
  const Flop activation = type == Type::none ? 0 : type == Type::clip ? 2 : 1;
  return out.elements() * ((bias ? 1 : 0) + (fused.adds ? 1 : 0) + activation);
}

Result<Signature> weightedSignature(const ShapeQuery& q, const WeightedShapes& shapes) {
  if (q.isForward()) {
    PITWALL_TRY(q.expectShape(1, shapes.weight, "weight"));
    if (shapes.bias != 0) PITWALL_TRY(q.expectShape(2, Shape{shapes.bias}, "bias"));
    if (shapes.adds) PITWALL_TRY(q.expectShape(q.inputs.size() - 1, shapes.out, "the addend"));
    return q.signature({shapes.out});
  }
  if (q.pass == Pass::backwardData) {
    PITWALL_TRY(q.expectShape(0, shapes.out, "dout"));
    PITWALL_TRY(q.expectShape(1, shapes.weight, "weight"));
    return q.signature({shapes.data});
  }
  PITWALL_TRY(q.expectShape(1, shapes.out, "dout"));
  if (q.like != nullptr && q.like->shape != shapes.weight)
    return q.wrong("dweight must have shape " + shapes.weight.toString());
  if (shapes.bias != 0) return q.signature({shapes.weight, Shape{shapes.bias}});
  return q.signature({shapes.weight});
}

Result<NDArray> weightedOperator(const WeightedNames& names, const NDArray& data,
                                 const op::WeightAndBias& trained, const OperatorKindDesc& desc,
                                 const CallSite& site) {
  const auto& [weight, bias] = trained;
  PITWALL_TRY(requireArrays(site, names.forward, {{"data", data}, {"weight", weight}}));

  const Value* inputs[] = {&valueOf(data), &valueOf(weight), bias ? &valueOf(bias) : nullptr};
  Value output;
  PITWALL_TRY(invoke(site.state(), {.name = names.forward,
                                    .desc = desc,
                                    .pass = forwardPass(autograd::isRecording()),
                                    .phase = Phase::forward,
                                    .inputs = {inputs, bias ? 3U : 2U},
                                    .outputs = {&output, 1},
                                    .keeps = 1U << kWeight,
                                    .flop = names.forward_flop}));
  NDArray result = makeArray(std::move(output));
  if (autograd::shouldRecord({&data, &weight, &bias})) {
    auto node = std::make_shared<WeightedNode>(names, desc);
    node->inputs = {data, weight};
    if (bias) node->inputs.push_back(bias);
    node->site = site.state();
    autograd::recordNode(result, std::move(node));
  }
  return result;
}

}  // namespace pitwall
