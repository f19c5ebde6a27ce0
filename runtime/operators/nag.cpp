#include "runtime/operators/nag.h"

#include "runtime/operators/support/weight_update.h"

namespace pitwall {
namespace {

Flop nagFlop(const Prepared& p) {
  return updateFlop(p, 7 + (p.desc.as<NagDesc>().weight_decay != 0 ? 2 : 0));
}

}  // namespace

constinit const OperatorKind NagDesc::kKind = OperatorKind::of<NagDesc>("NAG");

Result<Signature> NagDesc::infer(const ShapeQuery& q) const { return updateSignature(q, 1, multi_precision); }

Status op::nagUpdate(std::span<const SgdItem> items, const NagDesc& desc, SgdStep step,
                     const CallSite& site) {
  const OperatorKindDesc kind = desc;
  UpdateCall call{.name = desc.multi_precision ? "mp_nag_mom_update" : "nag_mom_update",
                  .desc = kind,
                  .flop = nagFlop,
                  .step = step};
  call.states[0].name = "momentum";
  for (const SgdItem& item : items) {
    call.weights.push_back(&item.weight);
    if (desc.multi_precision) call.masters.push_back(&item.master);
    call.states[0].arrays.push_back(&item.momentum);
  }
  return updateWeights(call, site);
}

}  // namespace pitwall
