#include "runtime/operators/layer_norm.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/backend/support/signature.h"
#include "runtime/operators/support/kernel_operator.h"

namespace pitwall {
namespace {

// Mean, variance, normalise, scale, shift; and for the gradient as in BatchNorm.
constexpr KernelOperator kLayerNorm{
    .forward = "LayerNorm",
    .backward = "_backward_LayerNorm",
    .forward_flop = [](const Prepared& p) -> Flop { return 7 * p.at_hand[0].shape.elements(); },
    .backward_flop = [](const Prepared& p) -> Flop { return 11 * p.at_hand[0].shape.elements(); },
    .reads_inputs = 3,
    .reads_outputs = 6,
    .outputs = 3};

}  // namespace

constinit const OperatorKind LayerNormDesc::kKind = OperatorKind::of<LayerNormDesc>("LayerNorm");

Result<Signature> LayerNormDesc::infer(const ShapeQuery& q) const {
  if (!q.isForward() && q.pass != Pass::backward) return q.noSuchPass();
  PITWALL_TRY(q.expectInputs(q.isForward() ? 3 : 5));
  const Shape& data = q.shape(0);
  if (data.rank() < 1) return q.wrong("data must have at least 1 axis");
  if (!(epsilon > 0)) return q.wrong(fmt::format("epsilon {}: must be greater than 0", epsilon));
  const Shape features{data[data.rank() - 1]};
  Shape rows;
  for (int i = 0; i + 1 < data.rank(); ++i) rows.append(data[i]);
  PITWALL_TRY(q.expectShape(1, features, "gamma"));
  if (q.isForward()) {
    PITWALL_TRY(q.expectShape(2, features, "beta"));
    if (q.pass == Pass::inference) return q.signature({data});
    return q.signature({data, rows, rows});
  }
  PITWALL_TRY(q.expectShape(2, rows, "saved_mean"));
  PITWALL_TRY(q.expectShape(3, rows, "saved_var"));
  PITWALL_TRY(q.expectShape(4, data, "dout"));
  return q.signature({data, features, features});
}

Result<NDArray> op::layerNorm(const NDArray& data, const NDArray& gamma, const NDArray& beta,
                              const LayerNormDesc& desc, const CallSite& site) {
  return callKernel(kLayerNorm, desc, {{"data", data}, {"gamma", gamma}, {"beta", beta}}, site);
}

}  // namespace pitwall
