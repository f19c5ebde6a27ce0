// Arithmetic of two arrays.
#include "runtime/operators/binary.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/autograd/node.h"
#include "runtime/backend/support/broadcast.h"
#include "runtime/backend/support/signature.h"
#include "runtime/operators/support/elementwise.h"
#include "runtime/operators/support/kernel_operator.h"

namespace pitwall {
namespace {

struct BinaryNames {
  const char* forward;
  const char* backward;
};
constexpr BinaryNames kBinaryNames[] = {{"elemwise_add", "_backward_add"}, {"elemwise_sub", "_backward_sub"},
                                        {"elemwise_mul", "_backward_mul"}, {"elemwise_div", "_backward_div"},
                                        {"_maximum", "_backward_maximum"}, {"_minimum", "_backward_minimum"}};

Flop onePerOutput(const Prepared& p) { return p.kernel->outputs()[0].shape.elements(); }
// Two products and their sums for each element of the output's gradient.
Flop twoPerGradient(const Prepared& p) { return 2 * p.at_hand[2].shape.elements(); }

// Shapes that differ.
constexpr KernelOperator kBroadcast[] = {
    {"broadcast_add", "_backward_broadcast_add", onePerOutput, twoPerGradient},
    {"broadcast_sub", "_backward_broadcast_sub", onePerOutput, twoPerGradient},
    {"broadcast_mul", "_backward_broadcast_mul", onePerOutput, twoPerGradient},
    {"broadcast_div", "_backward_broadcast_div", onePerOutput, twoPerGradient},
    {"_maximum", "_backward_maximum", onePerOutput, twoPerGradient},
    {"_minimum", "_backward_minimum", onePerOutput, twoPerGradient}};

struct BinaryNode final : autograd::Node {
  Status backward(autograd::Gradients& gradients) override {
    Status done;
    if (gradients.wanted(0)) done = first(gradients);
    if (done.has_value() && gradients.wanted(1)) done = second(gradients);
    return done;
  }

  // add, subtract: head; multiply: head * b; divide: head / b
  Status first(autograd::Gradients& gradients) {
    if (type == BinaryType::add || type == BinaryType::subtract) return gradients.give(0, gradients.head());
    return give(gradients, 0,
                applyBinary(call(type), gradients.head(), valueOf(inputs[1]), gradients.target(0)));
  }

  // add: head; subtract: -head; multiply: head * a; divide: -(head * out) / b
  Status second(autograd::Gradients& gradients) {
    const Value& out_gradient = gradients.head();
    if (type == BinaryType::add) return gradients.give(1, out_gradient);
    if (type == BinaryType::subtract)
      return give(gradients, 1, applyLinear(call(type), {-1, 0}, out_gradient, gradients.target(1)));
    if (type == BinaryType::multiply)
      return give(gradients, 1,
                  applyBinary(call(type), out_gradient, valueOf(inputs[0]), gradients.target(1)));
    Result<Value> value = applyBinary(call(BinaryType::multiply), out_gradient, out, {});
    if (value.has_value()) value = applyBinary(call(type), *value, valueOf(inputs[1]), {});
    if (value.has_value()) value = applyLinear(call(type), {-1, 0}, *value, gradients.target(1));
    return give(gradients, 1, value);
  }

  ElementwiseCall call(BinaryType applied) const {
    return {kBinaryNames[static_cast<std::size_t>(type)].backward, Phase::backward, site, applied};
  }
  static Status give(autograd::Gradients& gradients, std::size_t input, const Result<Value>& value) {
    return value.has_value() ? gradients.give(input, *value) : fail(value.error());
  }

  BinaryType type = BinaryType::add;
  Value out;  // divide only
};

Result<NDArray> binary(BinaryType type, const NDArray& a, const NDArray& b, const CallSite& site) {
  const char* name = kBinaryNames[static_cast<std::size_t>(type)].forward;
  PITWALL_TRY(requireArrays(site, name, {{"a", a}, {"b", b}}));
  const bool selects = type == BinaryType::maximum || type == BinaryType::minimum;
  if (selects || a.shape() != b.shape())
    return callKernel(kBroadcast[static_cast<std::size_t>(type)], BinaryDesc{type}, {{"a", a}, {"b", b}},
                      site);
  Value out =
      PITWALL_TRY(applyBinary({name, Phase::forward, site.state(), type}, valueOf(a), valueOf(b), {}));
  NDArray result = makeArray(out);
  if (autograd::shouldRecord({&a, &b})) {
    auto node = std::make_shared<BinaryNode>();
    node->inputs = {a, b};
    node->site = site.state();
    node->type = type;
    if (type == BinaryType::divide) node->out = out;
    autograd::recordNode(result, std::move(node));
  }
  return result;
}

}  // namespace

constinit const OperatorKind BinaryDesc::kKind = OperatorKind::of<BinaryDesc>("Binary");

Result<Signature> BinaryDesc::infer(const ShapeQuery& q) const {
  if (!q.isForward() && q.pass != Pass::backward) return q.noSuchPass();
  PITWALL_TRY(q.expectInputs(q.isForward() ? 2 : 3));
  const Shape &a = q.shape(0), &b = q.shape(1);
  const std::optional<Shape> out = broadcastShape(a, b);
  if (!out)
    return q.wrong(fmt::format(
        "b has shape {}, which does not combine with {}: counted from the last, each axis must be "
        "equal in both or 1 in one",
        b.toString(), a.toString()));
  if (q.isForward()) return q.signature({*out});
  PITWALL_TRY(q.expectShape(2, *out, "dout"));
  return q.signature({a, b});
}

Result<Value> applyBinary(const ElementwiseCall& call, const Value& a, const Value& b, Value output) {
  const OperatorKindDesc desc = BinaryDesc{call.type};
  const Value* inputs[] = {&a, &b};
  PITWALL_TRY(invoke(call.site, {.name = call.name,
                                 .desc = desc,
                                 .phase = call.phase,
                                 .inputs = inputs,
                                 .outputs = {&output, 1},
                                 .flop = onePerElement}));
  return output;
}

Result<NDArray> op::add(const NDArray& a, const NDArray& b, const CallSite& site) {
  return binary(BinaryType::add, a, b, site);
}
Result<NDArray> op::subtract(const NDArray& a, const NDArray& b, const CallSite& site) {
  return binary(BinaryType::subtract, a, b, site);
}
Result<NDArray> op::multiply(const NDArray& a, const NDArray& b, const CallSite& site) {
  return binary(BinaryType::multiply, a, b, site);
}
Result<NDArray> op::divide(const NDArray& a, const NDArray& b, const CallSite& site) {
  return binary(BinaryType::divide, a, b, site);
}
Result<NDArray> op::maximum(const NDArray& a, const NDArray& b, const CallSite& site) {
  return binary(BinaryType::maximum, a, b, site);
}
Result<NDArray> op::minimum(const NDArray& a, const NDArray& b, const CallSite& site) {
  return binary(BinaryType::minimum, a, b, site);
}

}  // namespace pitwall
