#include "runtime/operators/adam.h"

#include <fmt/format.h>

#include "runtime/operators/support/weight_update.h"

namespace pitwall {
namespace {

Flop adamFlop(const Prepared& p) {
  return updateFlop(p, 13 + (p.desc.as<AdamDesc>().weight_decay != 0 ? 2 : 0));
}

}  // namespace

constinit const OperatorKind AdamDesc::kKind = OperatorKind::of<AdamDesc>("Adam");

Result<Signature> AdamDesc::infer(const ShapeQuery& q) const {
  if (!(epsilon > 0)) return q.wrong(fmt::format("epsilon {}: must be greater than 0", epsilon));
  return updateSignature(q, 2, multi_precision);
}

Status op::adamUpdate(std::span<const AdamItem> items, const AdamDesc& desc, SgdStep step,
                      const CallSite& site) {
  const OperatorKindDesc kind = desc;
  UpdateCall call{.name = desc.multi_precision ? "mp_adam_update" : "adam_update",
                  .desc = kind,
                  .flop = adamFlop,
                  .step = step};
  call.states[0].name = "mean";
  call.states[1].name = "variance";
  for (const AdamItem& item : items) {
    call.weights.push_back(&item.weight);
    if (desc.multi_precision) call.masters.push_back(&item.master);
    call.states[0].arrays.push_back(&item.mean);
    call.states[1].arrays.push_back(&item.variance);
  }
  return updateWeights(call, site);
}

}  // namespace pitwall
