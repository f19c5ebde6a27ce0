#include "runtime/graph/named/parts.h"

#include <fmt/format.h>

#include <utility>

#include "db/try.h"

namespace pitwall::graph {

std::vector<std::string> countedInputs(const Attributes& attributes) {
  static constexpr AttributeRule kRules[] = {{"num_args", AttributeKind::integer, "0"}};
  const std::int64_t count = AttributeReader(kRules, attributes).integer("num_args");
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < count; ++i) names.push_back(fmt::format("arg{}", i));
  return names;
}

bool isKnown(const std::optional<Shape>& shape) {
  if (!shape) return false;
  for (int i = 0; i < shape->rank(); ++i) {
    if ((*shape)[i] == 0) return false;
  }
  return true;
}

std::string shapeText(const Shape& shape) {
  if (shape.rank() == 0) return "scalar";
  std::string result;
  for (int i = 0; i < shape.rank(); ++i)
    result += (i == 0 ? "" : "x") + (shape[i] == 0 ? "?" : std::to_string(shape[i]));
  return result;
}

Failure wrong(std::string what) { return fail(ErrorCode::invalidInput, std::move(what)); }

Failure noKernel(const std::string& what) {
  return fail(ErrorCode::unsupported, "there is no kernel for " + what);
}

Status assign(std::optional<Shape>& to, const Shape& from, const std::string& what) {
  if (!to) {
    to = from;
    return {};
  }
  const auto contradicts = [&] {
    return wrong(fmt::format("{} has shape {}, must be {}", what, shapeText(*to), shapeText(from)));
  };
  if (to->rank() != from.rank()) return contradicts();
  Shape merged;
  for (int i = 0; i < from.rank(); ++i) {
    if ((*to)[i] != 0 && from[i] != 0 && (*to)[i] != from[i]) return contradicts();
    merged.append((*to)[i] != 0 ? (*to)[i] : from[i]);
  }
  to = merged;
  return {};
}

Status equate(std::optional<Shape>& a, std::optional<Shape>& b, const std::string& what) {
  if (a) PITWALL_TRY(assign(b, *a, what));
  if (b) PITWALL_TRY(assign(a, *b, what));
  return {};
}

Status sameShapes(const Attributes&, NodeShapes& shapes) {
  std::optional<Shape> common;
  for (auto* side : {&shapes.inputs, &shapes.outputs}) {
    for (std::size_t i = 0; i < side->size(); ++i) {
      const auto& shape = (*side)[i];
      if (!shape) continue;
      const char* kind = side == &shapes.inputs ? "input" : "output";
      if (common && !assign(common, *shape, "").has_value())
        return wrong(
            fmt::format("{} {} has shape {}, the others {}", kind, i, shapeText(*shape), shapeText(*common)));
      PITWALL_TRY(assign(common, *shape, ""));
    }
  }
  if (!common) return {};
  for (auto* side : {&shapes.inputs, &shapes.outputs}) {
    for (auto& shape : *side) shape = common;
  }
  return {};
}

Shape with(const Shape& shape, int axis, std::int64_t extent) {
  Shape result;
  for (int i = 0; i < shape.rank(); ++i) result.append(i == axis ? extent : shape[i]);
  return result;
}

Result<int> axisOf(std::int64_t axis, int rank, const char* name) {
  if (axis < -rank || axis >= rank)
    return wrong(fmt::format("{}={} is no axis of an array with {} axes", name, axis, rank));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::int64_t product(const Shape& shape, int from, int to) {
  std::int64_t result = 1;
  for (int i = from; i < to; ++i) {
    if (shape[i] == 0 || __builtin_mul_overflow(result, shape[i], &result)) return 0;
  }
  return result;
}

Flop times(std::initializer_list<std::int64_t> factors) {
  constexpr Flop kMost = Flop{1} << 62;
  Flop result = 1;
  for (const std::int64_t factor : factors) {
    if (__builtin_mul_overflow(result, factor, &result) || result > kMost) return kMost;
  }
  return result;
}

Flop noFlop(const Attributes&, const NodeShapes&) { return 0; }

Flop outputElements(const Attributes&, const NodeShapes& shapes) { return shapes.outputs[0]->elements(); }

Result<Lowered> lowered(const OperatorKindDesc& desc, int inputs) {
  Lowered result;
  result.desc = desc;
  for (int i = 0; i < inputs; ++i) result.inputs.push_back(i);
  result.outputs = {0};
  return result;
}

Result<Lowered> viewOfInput() {
  Lowered result;
  result.kind = Lowered::Kind::view;
  result.gradient.passes = {0};
  return result;
}

GradientRule weightedRule(const char* name, const OperatorKindDesc& desc, std::size_t inputs, Flop forward) {
  GradientKernel data{.name = name,
                      .desc = desc,
                      .pass = Pass::backwardData,
                      .inputs = {from::gradient(), from::input(1)},
                      .gradients = {0},
                      .like = 0,
                      .flop = forward};
  GradientKernel trained{.name = name,
                         .desc = desc,
                         .pass = Pass::backwardWeights,
                         .inputs = {from::input(0), from::gradient()},
                         .gradients = {1},
                         .like = 1,
                         .flop = forward};
  if (inputs > 2) trained.gradients.push_back(2);
  GradientRule rule;
  rule.kernels = {std::move(trained), std::move(data)};
  return rule;
}

Result<Lowered> withGradient(Result<Lowered> lowered, GradientKernel kernel) {
  if (lowered.has_value()) lowered->gradient.kernels.push_back(std::move(kernel));
  return lowered;
}

}  // namespace pitwall::graph
