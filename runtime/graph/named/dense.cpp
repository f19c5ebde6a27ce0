// Products of matrices: FullyConnected, dot, batch_dot.
#include <fmt/format.h>

#include "db/try.h"
#include "runtime/graph/named/parts.h"
#include "runtime/operators/batch_dot.h"
#include "runtime/operators/dot.h"
#include "runtime/operators/fully_connected.h"

namespace pitwall::graph {
namespace {

constexpr AttributeRule kDenseRules[] = {
    {"num_hidden", kInteger, nullptr, "", 1},
    {"no_bias", kBoolean, "False"},
    {"flatten", kBoolean, "True"},
};

constexpr AttributeRule kDotRules[] = {
    {"transpose_a", kBoolean, "False"},
    {"transpose_b", kBoolean, "False"},
    {"forward_stype", kChoice, "None", "default|row_sparse|csr", 0, true},
};

Status denseShapes(const Attributes& a, NodeShapes& s) {
  const AttributeReader read(kDenseRules, a);
  const std::int64_t units = read.integer("num_hidden");
  const bool flatten = read.boolean("flatten");
  auto &data = s.inputs[0], &weight = s.inputs[1], &out = s.outputs[0];
  if (data && data->rank() < 2)
    return wrong(fmt::format("data has shape {}, must have at least 2 axes", shapeText(*data)));
  const int last = data ? data->rank() - 1 : 0;
  std::int64_t width = 0;
  if (data) width = flatten ? product(*data, 1, data->rank()) : (*data)[last];
  PITWALL_TRY(assign(weight, {units, width}, "weight"));
  if (s.inputs.size() > 2) PITWALL_TRY(assign(s.inputs[2], {units}, "bias"));
  if (!data) return {};
  PITWALL_TRY(assign(out, flatten ? Shape{(*data)[0], units} : with(*data, last, units), "output"));
  if (!flatten || last == 1) return assign(data, with(*out, last, (*weight)[1]), "data");
  return assign(data, with(*data, 0, (*out)[0]), "data");
}

Flop denseFlop(const Attributes&, const NodeShapes& s) {
  const std::int64_t out = s.outputs[0]->elements();
  return times({2, out, (*s.inputs[1])[1]}) + (s.inputs.size() > 2 ? out : 0);
}

Result<Lowered> lowerDense(const Attributes& a, const NodeShapes& s, bool) {
  const AttributeReader read(kDenseRules, a);
  FullyConnectedDesc desc;
  desc.units = read.integer("num_hidden");
  desc.bias = s.inputs.size() > 2;
  desc.flatten = read.boolean("flatten");
  auto result = lowered(desc, static_cast<int>(s.inputs.size()));
  result->gradient = weightedRule("_backward_FullyConnected", desc, s.inputs.size(), denseFlop(a, s));
  result->gradient.is_kept = true;
  return result;
}

// The axis that is summed over, and the others in their order.
struct Side {
  std::int64_t summed = 0;
  std::vector<std::int64_t> kept;
};

Side sideOf(const Shape& shape, bool first_axis) {
  Side side;
  const int axis = first_axis ? 0 : shape.rank() - 1;
  for (int i = 0; i < shape.rank(); ++i) {
    if (i == axis) {
      side.summed = shape[i];
    } else {
      side.kept.push_back(shape[i]);
    }
  }
  return side;
}

// The last axis of lhs, or its first when transposed, is summed with the first of rhs, or its last.
Status dotShapes(const Attributes& a, NodeShapes& s) {
  const AttributeReader read(kDotRules, a);
  const auto &lhs = s.inputs[0], &rhs = s.inputs[1];
  if (!lhs || !rhs) return {};
  if (lhs->rank() < 1 || rhs->rank() < 1) return wrong("lhs and rhs must have at least 1 axis");
  const Side left = sideOf(*lhs, read.boolean("transpose_a"));
  const Side right = sideOf(*rhs, !read.boolean("transpose_b"));
  if (left.summed != 0 && right.summed != 0 && left.summed != right.summed)
    return wrong(fmt::format("lhs {} and rhs {} differ in the axis that is summed: {} and {}",
                             shapeText(*lhs), shapeText(*rhs), left.summed, right.summed));
  if (left.kept.size() + right.kept.size() > Shape::kMaxRank)
    return wrong(fmt::format("the product of {} and {} has more than {} axes", shapeText(*lhs),
                             shapeText(*rhs), Shape::kMaxRank));
  Shape out;
  for (const Side* side : {&left, &right}) {
    for (const std::int64_t extent : side->kept) out.append(extent);
  }
  if (out.rank() == 0) out = {1};
  return assign(s.outputs[0], out, "output");
}

Status batchDotShapes(const Attributes& a, NodeShapes& s) {
  const AttributeReader read(kDotRules, a);
  auto &lhs = s.inputs[0], &rhs = s.inputs[1];
  if (!lhs || !rhs) return {};
  const int rank = lhs->rank();
  if (rank < 3 || rhs->rank() != rank)
    return wrong(fmt::format("lhs {} and rhs {} must have the same number of axes, at least 3",
                             shapeText(*lhs), shapeText(*rhs)));
  const int rows = read.boolean("transpose_a") ? rank - 1 : rank - 2;
  const int columns = read.boolean("transpose_b") ? rank - 2 : rank - 1;
  const int left_summed = 2 * rank - 3 - rows, right_summed = 2 * rank - 3 - columns;
  for (int i = 0; i < rank - 2; ++i) {
    PITWALL_TRY(assign(rhs, with(*rhs, i, (*rhs)[i] != 0 ? (*rhs)[i] : (*lhs)[i]), "rhs"));
    PITWALL_TRY(assign(lhs, with(*lhs, i, (*rhs)[i]), "lhs"));
  }
  PITWALL_TRY(assign(
      rhs, with(*rhs, right_summed, (*rhs)[right_summed] != 0 ? (*rhs)[right_summed] : (*lhs)[left_summed]),
      "rhs"));
  PITWALL_TRY(assign(lhs, with(*lhs, left_summed, (*rhs)[right_summed]), "lhs"));
  Shape out;
  for (int i = 0; i < rank - 2; ++i) out.append((*lhs)[i]);
  out.append((*lhs)[rows]);
  out.append((*rhs)[columns]);
  return assign(s.outputs[0], out, "output");
}

Flop dotFlop(const Attributes& a, const NodeShapes& s) {
  const AttributeReader read(kDotRules, a);
  return times({2, s.outputs[0]->elements(), sideOf(*s.inputs[0], read.boolean("transpose_a")).summed});
}

Flop batchDotFlop(const Attributes& a, const NodeShapes& s) {
  const Shape& lhs = *s.inputs[0];
  const bool transposed = AttributeReader(kDotRules, a).boolean("transpose_a");
  return times({2, s.outputs[0]->elements(), lhs[transposed ? lhs.rank() - 2 : lhs.rank() - 1]});
}

struct DotCall {
  const char* backward;
  Flop (*flop)(const Attributes&, const NodeShapes&);
};

template <class Desc>
Result<Lowered> lowerProduct(const Attributes& a, const NodeShapes& s, const DotCall& call) {
  const AttributeReader read(kDotRules, a);
  Desc desc;
  desc.transpose_a = read.boolean("transpose_a");
  desc.transpose_b = read.boolean("transpose_b");
  return withGradient(lowered(desc, 2), {.name = call.backward,
                                         .desc = desc,
                                         .inputs = {from::input(0), from::input(1), from::gradient()},
                                         .gradients = {0, 1},
                                         .flop = 2 * call.flop(a, s)});
}

Result<Lowered> lowerDot(const Attributes& a, const NodeShapes& s, bool) {
  return lowerProduct<DotDesc>(a, s, {"_backward_dot", dotFlop});
}

Result<Lowered> lowerBatchDot(const Attributes& a, const NodeShapes& s, bool) {
  return lowerProduct<BatchDotDesc>(a, s, {"_backward_batch_dot", batchDotFlop});
}

constexpr NamedOperator kDenseOperators[] = {
    {"FullyConnected", kDenseRules,
     [](const Attributes& a) -> std::vector<std::string> {
       if (AttributeReader(kDenseRules, a).boolean("no_bias")) return {"data", "weight"};
       return {"data", "weight", "bias"};
     },
     noStates, onlyOutput, oneVisible, denseShapes, lowerDense, denseFlop},
    {"dot", kDotRules, twoSides, noStates, onlyOutput, oneVisible, dotShapes, lowerDot, dotFlop},
    {"batch_dot", kDotRules, twoSides, noStates, onlyOutput, oneVisible, batchDotShapes, lowerBatchDot,
     batchDotFlop},
};

}  // namespace

std::span<const NamedOperator> denseOperators() { return kDenseOperators; }

}  // namespace pitwall::graph
