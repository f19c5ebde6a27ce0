// Functions of each element of one array.
#include <fmt/format.h>

#include <utility>

#include "db/try.h"
#include "runtime/graph/named/parts.h"
#include "runtime/operators/activation.h"
#include "runtime/operators/cast.h"
#include "runtime/operators/clip.h"
#include "runtime/operators/dropout.h"
#include "runtime/operators/linear.h"
#include "runtime/operators/reciprocal.h"

namespace pitwall::graph {
namespace {

constexpr AttributeRule kActivationRules[] = {
    {"act_type", kChoice, nullptr, "relu|sigmoid|softrelu|softsign|tanh"},
};

constexpr AttributeRule kDropoutRules[] = {
    {"p", kReal, "0.5"},
    {"mode", kChoice, "training", "training|always"},
    {"axes", kTuple, "()"},
    {"cudnn_off", kBoolean, "False", "", 0, true},
};

constexpr AttributeRule kClipRules[] = {{"a_min", kReal}, {"a_max", kReal}};

constexpr AttributeRule kScalarRules[] = {{"scalar", kReal, "1"}, {"is_int", kBoolean, "True"}};

constexpr AttributeRule kCastRules[] = {
    {"dtype", kChoice, nullptr, "float32|float64|float16|bfloat16|uint8|int8|int32|int64|bool"}};

// The kernel reads either the data or the output.
template <ActivationType kType>
Result<Lowered> lowerFunction(const Attributes&, const NodeShapes& s, bool) {
  const GradientSource read = kType == ActivationType::softrelu ? from::input(0) : from::output(0);
  return withGradient(lowered(ActivationDesc{kType}), {.name = "_backward_Activation",
                                                       .desc = ActivationDesc{kType},
                                                       .inputs = {read, read, from::gradient()},
                                                       .gradients = {0},
                                                       .flop = s.outputs[0]->elements()});
}

Result<Lowered> lowerActivation(const Attributes& a, const NodeShapes& s, bool training) {
  const std::string_view type = AttributeReader(kActivationRules, a).choice("act_type");
  if (type == "relu") return lowerFunction<ActivationType::relu>(a, s, training);
  if (type == "sigmoid") return lowerFunction<ActivationType::sigmoid>(a, s, training);
  if (type == "softrelu") return lowerFunction<ActivationType::softrelu>(a, s, training);
  if (type == "tanh") return lowerFunction<ActivationType::tanh>(a, s, training);
  return noKernel(fmt::format("act_type={}", type));
}

Status dropoutShapes(const Attributes& a, NodeShapes& s) {
  const double rate = AttributeReader(kDropoutRules, a).real("p");
  if (rate < 0 || rate >= 1) return wrong(fmt::format("p={} must be at least 0 and less than 1", rate));
  return sameShapes(a, s);
}

Result<Lowered> lowerDropout(const Attributes& a, const NodeShapes& s, bool training) {
  const AttributeReader read(kDropoutRules, a);
  const auto rate = static_cast<float>(read.real("p"));
  if (rate == 0 || (!training && read.choice("mode") == "training")) return viewOfInput();
  if (!read.tuple("axes").empty()) return noKernel("axes=" + a.at("axes"));
  Lowered result;
  result.desc = DropoutDesc{rate};
  result.inputs = {0};
  result.outputs = {0, 1};
  result.gradient.is_kept = true;
  return withGradient(result, {.name = "_backward_Dropout",
                               .desc = DropoutDesc{rate},
                               .inputs = {from::gradient(), from::output(1)},
                               .gradients = {0},
                               .flop = s.outputs[0]->elements()});
}

Result<Lowered> lowerClip(const Attributes& a, const NodeShapes& s, bool) {
  const AttributeReader read(kClipRules, a);
  const ClipDesc desc{static_cast<float>(read.real("a_min")), static_cast<float>(read.real("a_max"))};
  return withGradient(lowered(desc), {.name = "_backward_clip",
                                      .desc = desc,
                                      .inputs = {from::output(0), from::gradient()},
                                      .gradients = {0},
                                      .flop = 2 * s.outputs[0]->elements()});
}

double scalarOf(const Attributes& a) { return AttributeReader(kScalarRules, a).real("scalar"); }

Result<Lowered> linear(const LinearDesc& desc, const NodeShapes& s) {
  auto result = lowered(desc);
  if (desc.scale == 1) {
    result->gradient.passes = {0};
    return result;
  }
  return withGradient(std::move(result), {.name = "_backward_scalar",
                                          .desc = LinearDesc{desc.scale, 0},
                                          .pass = Pass::forward,
                                          .inputs = {from::gradient()},
                                          .gradients = {0},
                                          .flop = s.outputs[0]->elements()});
}

Result<Lowered> lowerPlus(const Attributes& a, const NodeShapes& s, bool) {
  return linear({1, static_cast<float>(scalarOf(a))}, s);
}
Result<Lowered> lowerMinus(const Attributes& a, const NodeShapes& s, bool) {
  return linear({1, static_cast<float>(-scalarOf(a))}, s);
}
Result<Lowered> lowerMinusReversed(const Attributes& a, const NodeShapes& s, bool) {
  return linear({-1, static_cast<float>(scalarOf(a))}, s);
}
Result<Lowered> lowerTimes(const Attributes& a, const NodeShapes& s, bool) {
  return linear({static_cast<float>(scalarOf(a)), 0}, s);
}
Result<Lowered> lowerDivide(const Attributes& a, const NodeShapes& s, bool) {
  return linear({static_cast<float>(1 / scalarOf(a)), 0}, s);
}
Result<Lowered> lowerDivideReversed(const Attributes& a, const NodeShapes& s, bool) {
  const ReciprocalDesc desc{static_cast<float>(scalarOf(a))};
  return withGradient(lowered(desc), {.name = "_backward_rdiv_scalar",
                                      .desc = desc,
                                      .inputs = {from::input(0), from::gradient()},
                                      .gradients = {0},
                                      .flop = 3 * s.outputs[0]->elements()});
}

// Of an array that has the type the executor makes a view.
Result<Lowered> lowerCast(const Attributes& a, const NodeShapes&, bool) {
  const std::string_view name = AttributeReader(kCastRules, a).choice("dtype");
  for (const DType type : {DType::float32, DType::float16, DType::bfloat16}) {
    if (name != toString(type)) continue;
    auto result = lowered(CastDesc{type});
    result->gradient.passes = {0};
    return result;
  }
  return noKernel(fmt::format("dtype={}: converts to float32, float16 and bfloat16", name));
}

Status castTypes(const Attributes& a, NodeTypes& types) {
  const std::string_view name = AttributeReader(kCastRules, a).choice("dtype");
  types.inputs[0].kind = TypeSlot::Kind::any;
  for (const DType type :
       {DType::float32, DType::float16, DType::bfloat16, DType::int32, DType::int8, DType::uint8}) {
    if (name != toString(type)) continue;
    types.outputs[0] = {TypeSlot::Kind::fixed, type};
    return {};
  }
  return fail(ErrorCode::unsupported,
              fmt::format("dtype={}: arrays are float32, float16, bfloat16, int32, int8 or uint8", name));
}

Result<Lowered> lowerCopy(const Attributes&, const NodeShapes&, bool) { return viewOfInput(); }

Result<Lowered> lowerBlock(const Attributes&, const NodeShapes&, bool) {
  auto result = viewOfInput();
  result->gradient = {.stops = true};
  return result;
}

using Lower = Result<Lowered> (*)(const Attributes&, const NodeShapes&, bool);

constexpr NamedOperator function(const char* name, std::span<const AttributeRule> rules, Lower lower) {
  return {name, rules, onlyData, noStates, onlyOutput, oneVisible, sameShapes, lower, outputElements};
}

constexpr NamedOperator copying(const char* name, std::span<const AttributeRule> rules, Lower lower) {
  return {name, rules, onlyData, noStates, onlyOutput, oneVisible, sameShapes, lower, noFlop};
}

constexpr NamedOperator kElementwiseOperators[] = {
    function("Activation", kActivationRules, lowerActivation),
    {"Dropout", kDropoutRules, onlyData, noStates,
     [](const Attributes&) -> std::vector<std::string> {
       return {"output", "mask"};
     },
     oneVisible, dropoutShapes, lowerDropout, noFlop, nullptr, true},
    function("clip", kClipRules, lowerClip),
    function("relu", {}, lowerFunction<ActivationType::relu>),
    function("sigmoid", {}, lowerFunction<ActivationType::sigmoid>),
    function("tanh", {}, lowerFunction<ActivationType::tanh>),
    function("_plus_scalar", kScalarRules, lowerPlus),
    function("_minus_scalar", kScalarRules, lowerMinus),
    function("_rminus_scalar", kScalarRules, lowerMinusReversed),
    function("_mul_scalar", kScalarRules, lowerTimes),
    function("_div_scalar", kScalarRules, lowerDivide),
    function("_rdiv_scalar", kScalarRules, lowerDivideReversed),
    {"Cast", kCastRules, onlyData, noStates, onlyOutput, oneVisible, sameShapes, lowerCast, noFlop, nullptr,
     false, castTypes},
    copying("_copy", {}, lowerCopy),
    copying("BlockGrad", {}, lowerBlock),
};

}  // namespace

std::span<const NamedOperator> elementwiseOperators() { return kElementwiseOperators; }

}  // namespace pitwall::graph
