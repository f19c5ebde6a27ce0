// Arithmetic of an array with one number.
#include "runtime/operators/linear.h"

#include "db/try.h"
#include "runtime/autograd/node.h"
#include "runtime/backend/support/signature.h"
#include "runtime/operators/support/elementwise.h"

namespace pitwall {
namespace {

struct LinearNode final : autograd::Node {
  Status backward(autograd::Gradients& gradients) override {
    if (scale == 1) return gradients.give(0, gradients.head());
    const Value gradient =
        PITWALL_TRY(applyLinear({.name = "_backward_scalar", .phase = Phase::backward, .site = site},
                                {scale, 0}, gradients.head(), gradients.target(0)));
    return gradients.give(0, gradient);
  }

  float scale = 1;
};

Result<NDArray> linear(const char* name, LinearDesc desc, const NDArray& data, const CallSite& site) {
  PITWALL_TRY(requireArrays(site, name, {{"data", data}}));
  Value out = PITWALL_TRY(applyLinear({.name = name, .site = site.state()}, desc, valueOf(data), {}));
  NDArray result = makeArray(out);
  if (autograd::shouldRecord({&data})) {
    auto node = std::make_shared<LinearNode>();
    node->inputs = {data};
    node->site = site.state();
    node->scale = desc.scale;
    autograd::recordNode(result, std::move(node));
  }
  return result;
}

}  // namespace

constinit const OperatorKind LinearDesc::kKind = OperatorKind::of<LinearDesc>("Linear");

Result<Signature> LinearDesc::infer(const ShapeQuery& q) const {
  if (!q.isForward()) return q.noSuchPass();
  PITWALL_TRY(q.expectInputs(1));
  return q.signature({q.shape(0)});
}

Result<Value> applyLinear(const ElementwiseCall& call, const LinearDesc& linear_desc, const Value& data,
                          Value output) {
  const OperatorKindDesc desc = linear_desc;
  const Value* inputs[] = {&data};
  PITWALL_TRY(invoke(call.site,
                     {.name = call.name,
                      .desc = desc,
                      .phase = call.phase,
                      .inputs = inputs,
                      .outputs = {&output, 1},
                      .flop = [](const Prepared& p) -> Flop { return 2 * p.at_hand[0].shape.elements(); }}));
  return output;
}

Result<NDArray> op::addScalar(const NDArray& data, float scalar, const CallSite& site) {
  return linear("_plus_scalar", {1, scalar}, data, site);
}
Result<NDArray> op::subtractScalar(const NDArray& data, float scalar, const CallSite& site) {
  return linear("_minus_scalar", {1, -scalar}, data, site);
}
Result<NDArray> op::multiplyScalar(const NDArray& data, float scalar, const CallSite& site) {
  return linear("_mul_scalar", {scalar, 0}, data, site);
}
Result<NDArray> op::divideScalar(const NDArray& data, float scalar, const CallSite& site) {
  return linear("_div_scalar", {1 / scalar, 0}, data, site);
}
Result<NDArray> op::subtractFromScalar(float scalar, const NDArray& data, const CallSite& site) {
  return linear("_rminus_scalar", {-1, scalar}, data, site);
}

}  // namespace pitwall
