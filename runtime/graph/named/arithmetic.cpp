// Arithmetic of two or more arrays.
#include <fmt/format.h>

#include <algorithm>

#include "db/try.h"
#include "runtime/graph/named/parts.h"
#include "runtime/operators/add_n.h"
#include "runtime/operators/binary.h"
#include "runtime/operators/linear.h"

namespace pitwall::graph {
namespace {

constexpr AttributeRule kSumRules[] = {{"num_args", kInteger, nullptr, "", 1, false, kMostCounted}};

// Axes are aligned at the last; an extent of 1 is repeated.
Status broadcastShapes(const Attributes&, NodeShapes& s) {
  const auto &lhs = s.inputs[0], &rhs = s.inputs[1];
  if (!lhs || !rhs) return {};
  const int rank = std::max(lhs->rank(), rhs->rank());
  Shape out;
  for (int i = 0; i < rank; ++i) {
    const int in_lhs = i - (rank - lhs->rank()), in_rhs = i - (rank - rhs->rank());
    const std::int64_t a = in_lhs < 0 ? 1 : (*lhs)[in_lhs], b = in_rhs < 0 ? 1 : (*rhs)[in_rhs];
    if (a > 1 && b > 1 && a != b)
      return wrong(fmt::format("lhs {} and rhs {} differ in axis {} of the result, and neither is 1 there",
                               shapeText(*lhs), shapeText(*rhs), i));
    // What is unknown may be 1, or the other's.
    out.append(a == b ? a : std::max(a, b) > 1 ? std::max(a, b) : 0);
  }
  return assign(s.outputs[0], out, "output");
}

constexpr const char* kBackwardNames[] = {"_backward_add", "_backward_sub",     "_backward_mul",
                                          "_backward_div", "_backward_maximum", "_backward_minimum"};

// One kernel for both inputs, which also sums where elements were repeated.
GradientKernel binaryGradient(BinaryType type, Flop elements) {
  const bool reads = type != BinaryType::add && type != BinaryType::subtract;
  const auto operand = [reads](int i) { return reads ? from::input(i) : from::unread(from::input(i)); };
  return {.name = kBackwardNames[static_cast<std::size_t>(type)],
          .desc = BinaryDesc{type},
          .inputs = {operand(0), operand(1), from::gradient()},
          .gradients = {0, 1},
          .flop = 2 * elements};
}

// Shapes that are equal need less: nothing, or one kernel for each input.
GradientRule binaryRule(BinaryType type, const NodeShapes& s) {
  const Flop elements = s.outputs[0]->elements();
  GradientRule rule;
  if (*s.inputs[0] != *s.inputs[1]) {
    rule.kernels = {binaryGradient(type, elements)};
  } else if (type == BinaryType::add) {
    rule.passes = {0, 1};
  } else if (type == BinaryType::subtract) {
    rule.passes = {0};
    rule.kernels = {{.name = "_backward_sub",
                     .desc = LinearDesc{-1, 0},
                     .pass = Pass::forward,
                     .inputs = {from::gradient()},
                     .gradients = {1},
                     .flop = elements}};
  } else if (type == BinaryType::multiply) {
    for (const int side : {0, 1})
      rule.kernels.push_back({.name = "_backward_mul",
                              .desc = BinaryDesc{BinaryType::multiply},
                              .pass = Pass::forward,
                              .inputs = {from::gradient(), from::input(1 - side)},
                              .gradients = {side},
                              .flop = elements});
  } else {
    rule.kernels = {binaryGradient(type, elements)};
  }
  return rule;
}

template <BinaryType kType>
Result<Lowered> lowerBinary(const Attributes&, const NodeShapes& s, bool) {
  auto result = lowered(BinaryDesc{kType}, 2);
  result->gradient = binaryRule(kType, s);
  return result;
}

Result<Lowered> lowerSum(const Attributes&, const NodeShapes& s, bool) {
  const int count = static_cast<int>(s.inputs.size());
  if (count == 1) return viewOfInput();
  auto result = count == 2 ? lowered(BinaryDesc{BinaryType::add}, 2) : lowered(AddNDesc{count}, count);
  for (int i = 0; i < count; ++i) result->gradient.passes.push_back(i);
  return result;
}

using LowerArithmetic = Result<Lowered> (*)(const Attributes&, const NodeShapes&, bool);

constexpr NamedOperator elementByElement(const char* name, LowerArithmetic lower) {
  return {name, {}, twoSides, noStates, onlyOutput, oneVisible, sameShapes, lower, outputElements};
}

constexpr NamedOperator broadcasting(const char* name, LowerArithmetic lower) {
  return {name, {}, twoSides, noStates, onlyOutput, oneVisible, broadcastShapes, lower, outputElements};
}

constexpr NamedOperator kArithmeticOperators[] = {
    elementByElement("elemwise_add", lowerBinary<BinaryType::add>),
    elementByElement("elemwise_sub", lowerBinary<BinaryType::subtract>),
    elementByElement("elemwise_mul", lowerBinary<BinaryType::multiply>),
    elementByElement("elemwise_div", lowerBinary<BinaryType::divide>),
    elementByElement("_maximum", lowerBinary<BinaryType::maximum>),
    elementByElement("_minimum", lowerBinary<BinaryType::minimum>),
    broadcasting("broadcast_add", lowerBinary<BinaryType::add>),
    broadcasting("broadcast_sub", lowerBinary<BinaryType::subtract>),
    broadcasting("broadcast_mul", lowerBinary<BinaryType::multiply>),
    broadcasting("broadcast_div", lowerBinary<BinaryType::divide>),
    broadcasting("broadcast_maximum", lowerBinary<BinaryType::maximum>),
    broadcasting("broadcast_minimum", lowerBinary<BinaryType::minimum>),
    {"add_n", kSumRules, countedInputs, noStates, onlyOutput, oneVisible, sameShapes, lowerSum,
     [](const Attributes&, const NodeShapes& s) -> Flop {
       return times({s.outputs[0]->elements(), static_cast<Flop>(s.inputs.size() - 1)});
     },
     "num_args"},
};

}  // namespace

std::span<const NamedOperator> arithmeticOperators() { return kArithmeticOperators; }

}  // namespace pitwall::graph
