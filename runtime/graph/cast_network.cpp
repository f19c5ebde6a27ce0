#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <string_view>

#include "db/try.h"
#include "runtime/graph/make_node.h"
#include "runtime/graph/node.h"
#include "runtime/mixed_precision.h"
#include "runtime/short_float.h"

namespace pitwall {
namespace graph {
namespace {

// Sums of exponentials, whose first input may be too large for 16 bits, and whose results are probabilities.
constexpr std::array<std::string_view, 4> kComputedInFloat32 = {"SoftmaxOutput", "softmax", "log_softmax",
                                                                "softmax_cross_entropy"};

bool isComputedInFloat32(const Node& node) {
  return !node.isVariable() &&
         std::ranges::find(kComputedInFloat32, std::string_view(node.op->name)) != kComputedInFloat32.end();
}

class NetworkCast {
 public:
  NetworkCast(const Symbol& network, const MixedPrecision& options)
      : graph_(network.outputs()), options_(options) {}

  Result<Symbol> run(const Symbol& network) {
    for (const NodePtr& node : graph_.nodes) PITWALL_TRY(copy(node));
    std::vector<NodeOutput> outputs;
    for (const NodeOutput& output : network.outputs()) {
      const NodeOutput copied = of(output);
      const bool is_wide = output.node->isVariable() || isComputedInFloat32(*output.node);
      outputs.push_back(is_wide ? copied
                                : PITWALL_TRY(cast(copied, outputName(output) + "_float32", DType::float32)));
    }
    return Symbol(std::move(outputs));
  }

 private:
  NodeOutput of(const NodeOutput& output) const { return {copies_.at(output.node.get()).node, output.index}; }

  static Result<NodeOutput> cast(const NodeOutput& from, const std::string& name, DType type) {
    const NodePtr node =
        PITWALL_TRY(makeNode(*findNamedOperator("Cast"), name, {from}, {{"dtype", toString(type)}}));
    return NodeOutput{node, 0};
  }

  Status copy(const NodePtr& node) {
    if (node->isVariable()) {
      NodeOutput variable{node, 0};
      if (std::ranges::find(options_.inputs, node->name) != options_.inputs.end())
        variable = PITWALL_TRY(cast(variable, node->name + "_" + toString(options_.type), options_.type));
      copies_[node.get()] = variable;
      return {};
    }
    std::vector<NodeOutput> read;
    for (const NodeOutput& input : node->inputs) read.push_back(of(input));
    if (isComputedInFloat32(*node))
      read[0] = PITWALL_TRY(cast(read[0], node->name + "_data_float32", DType::float32));
    const NodePtr made = PITWALL_TRY(makeNode(*node->op, node->name, std::move(read), attributesOf(*node)));
    copies_[node.get()] = {made, 0};
    return {};
  }

  Attributes attributesOf(const Node& node) const {
    Attributes attributes = node.attributes;
    if (options_.loss_scale == 1 || std::string_view(node.op->name) != "SoftmaxOutput") return attributes;
    const auto found = attributes.find("grad_scale");
    const double before = found != attributes.end() ? std::strtod(found->second.c_str(), nullptr) : 1;
    attributes["grad_scale"] = fmt::format("{}", before * static_cast<double>(options_.loss_scale));
    return attributes;
  }

  const IndexedGraph graph_;
  const MixedPrecision& options_;
  std::map<const Node*, NodeOutput> copies_;
};

}  // namespace
}  // namespace graph

Result<Symbol> castNetwork(const Symbol& network, const MixedPrecision& options) {
  if (!is16Bits(options.type))
    return fail(
        ErrorCode::invalidInput,
        fmt::format("castNetwork: the type is {}, must be float16 or bfloat16", toString(options.type)));
  if (!(options.loss_scale > 0))
    return fail(ErrorCode::invalidInput,
                fmt::format("castNetwork: the loss scale is {}, must be positive", options.loss_scale));
  const std::vector<std::string> arguments = network.arguments();
  for (const std::string& input : options.inputs)
    if (std::ranges::find(arguments, input) == arguments.end())
      return fail(ErrorCode::notFound, fmt::format("castNetwork: '{}' is no argument of the network", input));
  return graph::NetworkCast(network, options).run(network);
}

}  // namespace pitwall
