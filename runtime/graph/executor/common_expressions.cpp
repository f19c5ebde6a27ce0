#include "runtime/graph/executor/common_expressions.h"

#include <map>
#include <tuple>

#include "runtime/graph/named_operators.h"

namespace pitwall::graph {

std::vector<int> firstEqualNodes(const IndexedGraph& graph) {
  using Inputs = std::vector<std::pair<int, int>>;  // node and output
  std::map<std::tuple<const NamedOperator*, Inputs, Attributes>, int> seen;
  std::vector<int> first;
  for (int id = 0; id < static_cast<int>(graph.nodes.size()); ++id) {
    const Node& node = *graph.nodes[static_cast<std::size_t>(id)];
    first.push_back(id);
    if (node.isVariable() || node.states > 0 || node.op->is_random) continue;
    Inputs inputs;
    for (const NodeOutput& input : node.inputs) {
      const auto of = static_cast<std::size_t>(graph.idOf(input.node.get()));
      inputs.emplace_back(first[of], input.index);
    }
    first.back() = seen.try_emplace({node.op, std::move(inputs), node.attributes}, id).first->second;
  }
  return first;
}

}  // namespace pitwall::graph
