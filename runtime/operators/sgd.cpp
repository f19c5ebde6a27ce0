#include "runtime/operators/sgd.h"

#include "runtime/operators/support/weight_update.h"

namespace pitwall {
namespace {

const char* nameOf(std::size_t weights, const SgdDesc& desc) {
  if (desc.multi_precision) {
    if (weights == 1) return desc.momentum != 0 ? "mp_sgd_mom_update" : "mp_sgd_update";
    return desc.momentum != 0 ? "multi_mp_sgd_mom_update" : "multi_mp_sgd_update";
  }
  if (weights == 1) return desc.momentum != 0 ? "sgd_mom_update" : "sgd_update";
  return desc.momentum != 0 ? "multi_sgd_mom_update" : "multi_sgd_update";
}

Flop sgdFlop(const Prepared& p) {
  const auto& desc = p.desc.as<SgdDesc>();
  return updateFlop(p, 3 + (desc.weight_decay != 0 ? 2 : 0) + (desc.momentum != 0 ? 2 : 0));
}

}  // namespace

constinit const OperatorKind SgdDesc::kKind = OperatorKind::of<SgdDesc>("SGD");

Result<Signature> SgdDesc::infer(const ShapeQuery& q) const {
  return updateSignature(q, momentum != 0 ? 1 : 0, multi_precision);
}

Status op::sgdUpdate(std::span<const SgdItem> items, const SgdDesc& desc, SgdStep step,
                     const CallSite& site) {
  const OperatorKindDesc kind = desc;
  UpdateCall call{.name = nameOf(items.size(), desc), .desc = kind, .flop = sgdFlop, .step = step};
  call.states[0].name = "momentum";
  for (const SgdItem& item : items) {
    call.weights.push_back(&item.weight);
    if (desc.multi_precision) call.masters.push_back(&item.master);
    if (desc.momentum != 0) call.states[0].arrays.push_back(&item.momentum);
  }
  return updateWeights(call, site);
}

}  // namespace pitwall
