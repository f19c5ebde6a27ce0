#include "runtime/operators/sgd.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/array/call.h"
#include "runtime/backend/support/signature.h"

namespace pitwall {
namespace {

const char* nameOf(std::size_t weights, const SgdDesc& desc) {
  if (weights == 1) return desc.momentum != 0 ? "sgd_mom_update" : "sgd_update";
  return desc.momentum != 0 ? "multi_sgd_mom_update" : "multi_sgd_update";
}

Flop sgdFlop(const Prepared& p) {
  const auto& desc = p.desc.as<SgdDesc>();
  Flop elements = 0;
  for (const TensorSpec& gradient : p.at_hand) elements += gradient.shape.elements();
  return elements * (3 + (desc.weight_decay != 0 ? 2 : 0) + (desc.momentum != 0 ? 2 : 0));
}

Status checkItem(const op::SgdItem& item, const SgdDesc& desc, const char* name) {
  if (!item.weight || !item.weight.gradient())
    return fail(ErrorCode::invalidInput,
                fmt::format("{}: a weight has no gradient; call attachGradient() on it first", name));
  const bool fits = item.momentum && item.momentum.shape() == item.weight.shape();
  if (desc.momentum != 0 && !fits)
    return fail(
        ErrorCode::invalidInput,
        fmt::format("{}: the momentum of a weight of shape {} is {}", name, item.weight.shape().toString(),
                    item.momentum ? "of shape " + item.momentum.shape().toString() : "missing"));
  return {};
}

}  // namespace

constinit const OperatorKind SgdDesc::kKind = OperatorKind::of<SgdDesc>("SGD");

Result<Signature> SgdDesc::infer(const ShapeQuery& q) const {
  if (q.pass != Pass::forward) return q.noSuchPass();
  if (q.inputs.empty()) return q.wrong("takes at least one gradient");
  Signature s = q.signature({});
  s.outputs = s.inputs;
  if (momentum != 0) s.outputs.insert(s.outputs.end(), s.inputs.begin(), s.inputs.end());
  return s;
}

Status op::sgdUpdate(std::span<const SgdItem> items, const SgdDesc& kind, SgdStep step,
                     const CallSite& site) {
  if (items.empty()) return {};
  const char* name = nameOf(items.size(), kind);
  const OperatorKindDesc desc = kind;
  std::vector<Value> gradients, updated;
  gradients.reserve(items.size());
  for (const SgdItem& item : items) {
    PITWALL_TRY(checkItem(item, kind, name));
    const Value& weight = valueOf(item.weight);
    // Weight, gradient and momentum must have the same layout; the gradient of a used weight already has it.
    Value gradient = PITWALL_TRY(
        withLayout(site.state(), valueOf(item.weight.gradient()), weight.chunk->layout, Phase::update));
    gradients.push_back(std::move(gradient));
    updated.push_back(weight);
  }
  if (kind.momentum != 0) {
    for (const SgdItem& item : items) {
      const Value& momentum = valueOf(item.momentum);
      PITWALL_TRY(convertLayout(site.state(), momentum, valueOf(item.weight).chunk->layout, Phase::update));
      updated.push_back(momentum);
    }
  }
  std::vector<const Value*> inputs;
  inputs.reserve(gradients.size());
  for (const Value& gradient : gradients) inputs.push_back(&gradient);
  return invoke(site.state(), {.name = name,
                               .desc = desc,
                               .pass = Pass::forward,
                               .phase = Phase::update,
                               .inputs = inputs,
                               .outputs = updated,
                               .updates_from = 0,
                               .flop = sgdFlop,
                               .rate = step.rate,
                               .rescale = step.rescale});
}

}  // namespace pitwall
