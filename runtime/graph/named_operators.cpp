#include "runtime/graph/named_operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "db/check.h"
#include "runtime/graph/named/parts.h"
#include "runtime/graph/node.h"

namespace pitwall::graph {
namespace {

struct OtherName {
  const char* other;
  const char* name;
};

constexpr OtherName kOtherNames[] = {
    {"BatchNorm_v1", "BatchNorm"},
    {"Convolution_v1", "Convolution"},
    {"ElementWiseSum", "add_n"},
    {"Pooling_v1", "Pooling"},
    {"Softmax", "SoftmaxOutput"},
    {"SwapAxes", "SwapAxis"},
    {"_DivScalar", "_div_scalar"},
    {"_Div", "elemwise_div"},
    {"_Maximum", "_maximum"},
    {"_MinusScalar", "_minus_scalar"},
    {"_Minimum", "_minimum"},
    {"_Minus", "elemwise_sub"},
    {"_MulScalar", "_mul_scalar"},
    {"_Mul", "elemwise_mul"},
    {"_PlusScalar", "_plus_scalar"},
    {"_Plus", "elemwise_add"},
    {"_RDivScalar", "_rdiv_scalar"},
    {"_RMinusScalar", "_rminus_scalar"},
    {"_add", "elemwise_add"},
    {"_div", "elemwise_div"},
    {"_minus", "elemwise_sub"},
    {"_mul", "elemwise_mul"},
    {"_plus", "elemwise_add"},
    {"_sub", "elemwise_sub"},
    {"broadcast_minus", "broadcast_sub"},
    {"broadcast_plus", "broadcast_add"},
    {"cast", "Cast"},
    {"concat", "Concat"},
    {"flatten", "Flatten"},
    {"identity", "_copy"},
    {"max_axis", "max"},
    {"min_axis", "min"},
    {"reshape", "Reshape"},
    {"split", "SliceChannel"},
    {"stop_gradient", "BlockGrad"},
    {"sum_axis", "sum"},
    {"swapaxes", "SwapAxis"},
};

struct Registry {
  std::map<std::string_view, const NamedOperator*> by_name;
  std::vector<const NamedOperator*> all;

  Registry() {
    for (const auto table :
         {convolutionOperators(), poolingOperators(), normOperators(), denseOperators(), sequenceOperators(),
          elementwiseOperators(), arithmeticOperators(), softmaxOperators(), lossOperators(), viewOperators(),
          axisOperators(), quantizedOperators()}) {
      for (const NamedOperator& op : table) {
        PITWALL_CHECK(by_name.emplace(op.name, &op).second, "%s is there twice", op.name);
      }
    }
    for (const auto& [name, op] : by_name) all.push_back(op);
    for (const auto& [other, name] : kOtherNames) by_name.emplace(other, by_name.at(name));
  }
};

const Registry& registry() {
  static const Registry operators;
  return operators;
}

}  // namespace

const NamedOperator* findNamedOperator(std::string_view name) {
  const auto& by_name = registry().by_name;
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

std::span<const NamedOperator* const> namedOperators() { return registry().all; }

Status inferNode(const Node& node, NodeShapes& shapes) {
  Status done = node.op->shapes(node.attributes, shapes);
  if (done.has_value()) return {};
  return fail(done.error().code, fmt::format("{}: {}", describe(node), done.error().message));
}

Result<Lowered> lowerNode(const Node& node, const NodeShapes& shapes, bool training) {
  auto done = node.op->lower(node.attributes, shapes, training);
  if (done.has_value()) return done;
  return fail(done.error().code, fmt::format("{}: {}", describe(node), done.error().message));
}

}  // namespace pitwall::graph
