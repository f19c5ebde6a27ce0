#include "runtime/operators/fully_connected.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/operators/support/weighted.h"

namespace pitwall {
namespace {

// Multiplications and additions for `out`, N x M or N x ... x M, of a weight M x K.
Flop fullyConnectedProducts(const Shape& out, const Shape& weight) { return 2 * out.elements() * weight[1]; }

constexpr WeightedNames kFullyConnectedNames{
    .forward = "FullyConnected",
    .backward = "_backward_FullyConnected",
    .forward_flop = [](const Prepared& p) -> Flop {
      const Shape& out = p.kernel->outputs()[0].shape;
      const auto& d = p.desc.as<FullyConnectedDesc>();
      return fullyConnectedProducts(out, p.at_hand[1].shape) +
             fusedFlop(out, d.bias, {.activation = d.activation});
    },
    .backward_data_flop = [](const Prepared& p) -> Flop {
      return fullyConnectedProducts(p.at_hand[0].shape, p.at_hand[1].shape);
    },
    .backward_weights_flop = [](const Prepared& p) -> Flop {
      const Shape& head = p.at_hand[1].shape;
      return fullyConnectedProducts(head, p.kernel->outputs()[0].shape) +
             (p.kernel->outputs().size() > 1 ? head.elements() : 0);
    },
};

}  // namespace

constinit const OperatorKind FullyConnectedDesc::kKind =
    OperatorKind::of<FullyConnectedDesc>("FullyConnected");

Result<Signature> FullyConnectedDesc::infer(const ShapeQuery& q) const {
  const auto data = PITWALL_TRY(weightedData(q, bias, {.activation = activation}));
  if (data.rank() < 2) return q.wrong("data must have at least 2 axes");
  if (units < 1) return q.wrong(fmt::format("{} units: must be at least 1", units));
  if (data.elements() < 1) return q.wrong("data is empty");
  const std::int64_t features = flatten ? data.elements() / data[0] : data[data.rank() - 1];
  Shape out{data[0]};
  for (int i = 1; !flatten && i + 1 < data.rank(); ++i) out.append(data[i]);
  out.append(units);
  return weightedSignature(q,
                           {.data = data, .out = out, .weight = {units, features}, .bias = bias ? units : 0});
}

Result<NDArray> op::fullyConnected(const NDArray& data, const WeightAndBias& trained,
                                   const FullyConnectedDesc& desc, const CallSite& site) {
  return weightedOperator(kFullyConnectedNames, data, trained, desc, site);
}

}  // namespace pitwall
