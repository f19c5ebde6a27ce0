#include "runtime/operators/cast.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/array/call.h"
#include "runtime/autograd.h"
#include "runtime/autograd/node.h"
#include "runtime/backend/support/signature.h"
#include "runtime/short_float.h"

namespace pitwall {
namespace {

struct CastCall {
  const char* name;
  Phase phase;
  SitePtr site;
};

Result<Value> applyCast(const CastCall& call, DType type, const Value& data, Value output) {
  const OperatorKindDesc desc = CastDesc{type};
  const Value* inputs[] = {&data};
  PITWALL_TRY(invoke(
      call.site,
      {.name = call.name, .desc = desc, .phase = call.phase, .inputs = inputs, .outputs = {&output, 1}}));
  return output;
}

struct CastNode final : autograd::Node {
  Status backward(autograd::Gradients& gradients) override {
    const Value gradient = PITWALL_TRY(applyCast({"_backward_cast", Phase::backward, site}, inputs[0].dtype(),
                                                 gradients.head(), gradients.target(0)));
    return gradients.give(0, gradient);
  }
};

}  // namespace

constinit const OperatorKind CastDesc::kKind = OperatorKind::of<CastDesc>("Cast", {}, {.value = true});

Result<Signature> CastDesc::infer(const ShapeQuery& q) const {
  if (!q.isForward()) return q.noSuchPass();
  PITWALL_TRY(q.expectInputs(1));
  for (const DType type : {q.inputs[0].dtype, output})
    if (!isReal(type))
      return fail(ErrorCode::unsupported,
                  fmt::format("{}: converts float32, float16 and bfloat16, not {}",
                              describeRequest(q.desc, q.pass, q.inputs, q.like), toString(type)));
  Signature s = q.signature({q.shape(0)});
  s.outputs[0].dtype = output;
  return s;
}

Result<NDArray> op::cast(const NDArray& data, DType type, const CallSite& site) {
  PITWALL_TRY(requireArrays(site, "Cast", {{"data", data}}));
  if (data.dtype() == type) return data;
  NDArray result =
      makeArray(PITWALL_TRY(applyCast({"Cast", Phase::forward, site.state()}, type, valueOf(data), {})));
  if (autograd::shouldRecord({&data})) {
    auto node = std::make_shared<CastNode>();
    node->inputs = {data};
    node->site = site.state();
    autograd::recordNode(result, std::move(node));
  }
  return result;
}

}  // namespace pitwall
