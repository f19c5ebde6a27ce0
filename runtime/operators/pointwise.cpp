#include "runtime/operators/pointwise.h"

#include <fmt/format.h>

#include "db/try.h"
#include "runtime/backend/support/signature.h"

namespace pitwall {
namespace {

const char* nameOf(PointwiseDesc::Function function) {
  using enum PointwiseDesc::Function;
  switch (function) {
    case add: return "add";
    case subtract: return "subtract";
    case multiply: return "multiply";
    case divide: return "divide";
    case maximum: return "maximum";
    case minimum: return "minimum";
    case linear: return "linear";
    case reciprocal: return "reciprocal";
    case clip: return "clip";
    case relu: return "relu";
    case sigmoid: return "sigmoid";
    case tanh: return "tanh";
    case softrelu: return "softrelu";
    case reluGradient: return "reluGradient";
    case sigmoidGradient: return "sigmoidGradient";
    case tanhGradient: return "tanhGradient";
    case softreluGradient: return "softreluGradient";
    case clipGradient: return "clipGradient";
  }
  return "";
}

bool hasTwo(PointwiseDesc::Function function) {
  using enum PointwiseDesc::Function;
  return function <= minimum || function >= reluGradient;
}

bool hasNumbers(PointwiseDesc::Function function) {
  using enum PointwiseDesc::Function;
  return function == linear || function == reciprocal || function == clip || function == clipGradient;
}

}  // namespace

constinit const OperatorKind PointwiseDesc::kKind = OperatorKind::of<PointwiseDesc>("Pointwise");

std::string PointwiseDesc::toString() const {
  std::string text;
  int result = inputs;
  for (const Instruction& i : instructions) {
    text += fmt::format("{}r{} = {} r{}", text.empty() ? "" : "; ", result++, nameOf(i.function), i.a);
    if (hasTwo(i.function)) text += fmt::format(" r{}", i.b);
    if (hasNumbers(i.function)) text += fmt::format(" {} {}", i.alpha, i.beta);
  }
  text += " ->";
  for (const std::uint8_t output : outputs) text += fmt::format(" r{}", output);
  return text;
}

Result<Signature> PointwiseDesc::infer(const ShapeQuery& q) const {
  if (!q.isForward()) return q.noSuchPass();
  PITWALL_TRY(q.expectInputs(static_cast<std::size_t>(inputs)));
  std::size_t made = static_cast<std::size_t>(inputs);
  for (const Instruction& i : instructions)
    if (i.a >= made || i.b >= made++) return q.wrong("an instruction reads a register that none has made");
  for (const std::uint8_t output : outputs)
    if (output >= made) return q.wrong("an output is a register that no instruction makes");
  if (inputs < 1 || outputs.empty() || q.inputs.size() > kMostInputs ||
      instructions.size() > kMostInstructions || outputs.size() > kMostOutputs)
    return q.wrong(fmt::format("it has 1 to {} inputs, at most {} instructions and 1 to {} outputs",
                               kMostInputs, kMostInstructions, kMostOutputs));
  for (std::size_t i = 1; i < q.inputs.size(); ++i) PITWALL_TRY(q.expectShape(i, q.shape(0), "input"));
  return q.signature(std::vector<Shape>(outputs.size(), q.shape(0)));
}

}  // namespace pitwall
