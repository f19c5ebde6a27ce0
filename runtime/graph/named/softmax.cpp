// Softmax, alone and with the loss of a classification.
#include "runtime/operators/softmax.h"

#include <fmt/format.h>

#include <utility>

#include "db/try.h"
#include "runtime/graph/named/parts.h"
#include "runtime/operators/softmax_output.h"

namespace pitwall::graph {
namespace {

constexpr AttributeRule kSoftmaxRules[] = {
    {"axis", kInteger, "-1"},
    {"temperature", kReal, "None", "", 0, true},
    {"dtype", kUnused, "None"},
    {"use_length", kBoolean, "False"},
};

constexpr AttributeRule kSoftmaxActivationRules[] = {{"mode", kChoice, "instance", "instance|channel"}};

constexpr AttributeRule kSoftmaxOutputRules[] = {
    {"grad_scale", kReal, "1"},
    {"ignore_label", kReal, "-1"},
    {"multi_output", kBoolean, "False"},
    {"use_ignore", kBoolean, "False"},
    {"preserve_shape", kBoolean, "False"},
    {"normalization", kChoice, "null", "null|batch|valid"},
    {"out_grad", kBoolean, "False"},
    {"smooth_alpha", kReal, "0"},
};

Status softmaxShapes(const Attributes& a, NodeShapes& s) {
  const AttributeReader read(kSoftmaxRules, a);
  if (read.boolean("use_length")) return fail(ErrorCode::unsupported, "use_length=True is not supported");
  if (s.inputs[0]) PITWALL_TRY(axisOf(read.integer("axis"), s.inputs[0]->rank(), "axis"));
  return sameShapes(a, s);
}

// Labels are class indices, one for each place of data without the axis of the classes, or probabilities of the
// shape of data.
Status softmaxOutputShapes(const Attributes& a, NodeShapes& s) {
  auto &data = s.inputs[0], &label = s.inputs[1];
  PITWALL_TRY(equate(data, s.outputs[0], "output"));
  if (!data) return {};
  if (data->rank() < 2)
    return wrong(fmt::format("data has shape {}, must have at least 2 axes", shapeText(*data)));
  if (label && *label == *data) return {};
  const int rank = data->rank();
  if (!AttributeReader(kSoftmaxOutputRules, a).boolean("multi_output")) {
    Shape expected;
    for (int i = 0; i + 1 < rank; ++i) expected.append((*data)[i]);
    return assign(label, expected, "label");
  }
  const std::int64_t places = product(*data, 2, rank);
  const Shape rows{(*data)[0], places};
  Shape dropped{(*data)[0]};
  for (int i = 2; i < rank; ++i) dropped.append((*data)[i]);
  if (label && isKnown(label) && (*label == dropped || *label == with(*data, 1, 1))) return {};
  return assign(label, rows, "label");
}

Result<Lowered> lowerProbabilities(const SoftmaxDesc& desc, const NodeShapes& s) {
  return withGradient(lowered(desc), {.name = desc.logarithm ? "_backward_log_softmax" : "_backward_softmax",
                                      .desc = desc,
                                      .inputs = {from::output(0), from::gradient()},
                                      .gradients = {0},
                                      .flop = 4 * s.outputs[0]->elements()});
}

template <bool kLogarithm>
Result<Lowered> lowerSoftmax(const Attributes& a, const NodeShapes& s, bool) {
  const AttributeReader read(kSoftmaxRules, a);
  SoftmaxDesc desc{.logarithm = kLogarithm};
  desc.axis = static_cast<int>(read.integer("axis"));
  if (!read.isNone("temperature")) desc.temperature = static_cast<float>(read.real("temperature"));
  return lowerProbabilities(desc, s);
}

Result<Lowered> lowerSoftmaxActivation(const Attributes& a, const NodeShapes& s, bool) {
  const bool channel = AttributeReader(kSoftmaxActivationRules, a).choice("mode") == "channel";
  if (!channel && s.inputs[0]->rank() != 2)
    return noKernel(fmt::format("mode=instance and data of {}", shapeText(*s.inputs[0])));
  return lowerProbabilities({.axis = 1}, s);
}

// The labels are for the backward pass.
Result<Lowered> lowerSoftmaxOutput(const Attributes& a, const NodeShapes& s, bool) {
  const AttributeReader read(kSoftmaxOutputRules, a);
  if (read.boolean("out_grad")) return noKernel("out_grad=True");
  SoftmaxOutputDesc desc;
  desc.grad_scale = static_cast<float>(read.real("grad_scale"));
  desc.ignore_label = static_cast<float>(read.real("ignore_label"));
  desc.smooth_alpha = static_cast<float>(read.real("smooth_alpha"));
  desc.multi_output = read.boolean("multi_output");
  desc.preserve_shape = read.boolean("preserve_shape");
  desc.use_ignore = read.boolean("use_ignore");
  const std::string_view normalization = read.choice("normalization");
  if (normalization == "batch") desc.normalization = SoftmaxNormalization::batch;
  if (normalization == "valid") desc.normalization = SoftmaxNormalization::valid;
  auto result = lowered(desc);
  result->gradient.is_loss = result->gradient.is_kept = true;
  return withGradient(std::move(result), {.name = "_backward_SoftmaxOutput",
                                          .desc = desc,
                                          .inputs = {from::input(1), from::output(0)},
                                          .gradients = {0},
                                          .flop = 2 * s.outputs[0]->elements()});
}

// The exponential, the sum, the division and the largest.
Flop softmaxFlop(const Attributes&, const NodeShapes& s) { return 4 * s.outputs[0]->elements(); }

constexpr NamedOperator kSoftmaxOperators[] = {
    {"softmax", kSoftmaxRules, onlyData, noStates, onlyOutput, oneVisible, softmaxShapes, lowerSoftmax<false>,
     softmaxFlop},
    {"log_softmax", kSoftmaxRules, onlyData, noStates, onlyOutput, oneVisible, softmaxShapes,
     lowerSoftmax<true>, softmaxFlop},
    {"SoftmaxActivation", kSoftmaxActivationRules, onlyData, noStates, onlyOutput, oneVisible, sameShapes,
     lowerSoftmaxActivation, softmaxFlop},
    {"SoftmaxOutput", kSoftmaxOutputRules,
     [](const Attributes&) -> std::vector<std::string> {
       return {"data", "label"};
     },
     noStates, onlyOutput, oneVisible, softmaxOutputShapes, lowerSoftmaxOutput, softmaxFlop},
};

}  // namespace

std::span<const NamedOperator> softmaxOperators() { return kSoftmaxOperators; }

}  // namespace pitwall::graph
