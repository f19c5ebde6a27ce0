#include "runtime/operators/fully_connected.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/operators/support/weighted.h"

namespace pitwall {
namespace {

// Multiplications and additions of N x K by a weight M x K.
Flop multiplyAdds(std::int64_t batch, const Shape& weight) { return 2 * batch * weight.elements(); }

constexpr WeightedNames kNames{
    .forward = "FullyConnected",
    .backward = "_backward_FullyConnected",
    .forward_flop = [](const Prepared& p) -> Flop {
      const Shape& out = p.kernel->outputs()[0].shape;
      return multiplyAdds(out[0], p.at_hand[1].shape) + (p.at_hand.size() > 2 ? out.elements() : 0);
    },
    .backward_data_flop = [](const Prepared& p) -> Flop {
      return multiplyAdds(p.at_hand[0].shape[0], p.at_hand[1].shape);
    },
    .backward_weights_flop = [](const Prepared& p) -> Flop {
      const Shape& head = p.at_hand[1].shape;
      return multiplyAdds(head[0], p.kernel->outputs()[0].shape) +
             (p.kernel->outputs().size() > 1 ? head.elements() : 0);
    },
};

}  // namespace

constinit const OperatorKind FullyConnectedDesc::kKind =
    OperatorKind::of<FullyConnectedDesc>("FullyConnected");

Result<Signature> FullyConnectedDesc::infer(const ShapeQuery& q) const {
  const auto data = PITWALL_TRY(weightedData(q, bias));
  if (data.rank() < 2) return q.wrong("data must have at least 2 axes");
  if (units < 1) return q.wrong(fmt::format("{} units: must be at least 1", units));
  const std::int64_t batch = data[0];
  if (batch < 1) return q.wrong("data is empty");
  return weightedSignature(q, {.data = data,
                               .out = {batch, units},
                               .weight = {units, data.elements() / batch},
                               .bias = bias ? units : 0});
}

Result<NDArray> op::fullyConnected(const NDArray& data, const WeightAndBias& trained,
                                   const FullyConnectedDesc& desc, const CallSite& site) {
  return weightedOperator(kNames, data, trained, desc, site);
}

}  // namespace pitwall
