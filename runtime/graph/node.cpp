#include "runtime/graph/node.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/graph/named_operators.h"

namespace pitwall::graph {
namespace {

// Appends the nodes below `root` that have no id yet, inputs first.
void visit(const NodePtr& root, IndexedGraph& graph) {
  struct Open {
    NodePtr node;
    std::size_t next_input = 0;
  };
  if (graph.ids.contains(root.get())) return;
  std::vector<Open> path{{root, 0}};
  graph.ids.emplace(root.get(), -1);
  while (!path.empty()) {
    Open& open = path.back();
    if (open.next_input < open.node->inputs.size()) {
      const NodePtr& input = open.node->inputs[open.next_input++].node;
      if (graph.ids.emplace(input.get(), -1).second) path.push_back({input, 0});
      continue;
    }
    graph.ids[open.node.get()] = static_cast<int>(graph.nodes.size());
    graph.nodes.push_back(std::move(open.node));
    path.pop_back();
  }
}

}  // namespace

// A node that only this one uses would be destroyed by it, and so on along a chain.
Node::~Node() {
  std::vector<NodeOutput> left = std::move(inputs);
  while (!left.empty()) {
    const NodePtr last = std::move(left.back().node);
    left.pop_back();
    if (last == nullptr || last.use_count() != 1) continue;
    auto& below = const_cast<Node&>(*last).inputs;  // this is its only owner
    std::move(below.begin(), below.end(), std::back_inserter(left));
    below.clear();
  }
}

std::string describe(const Node& node) {
  return fmt::format("{} ({})", node.name, node.isVariable() ? "variable" : node.op->name);
}

std::string outputName(const NodeOutput& output) {
  const Node& node = *output.node;
  if (node.isVariable()) return node.name;
  const std::string name = node.op->outputs(node.attributes)[static_cast<std::size_t>(output.index)];
  return node.name.empty() ? name : node.name + "_" + name;
}

IndexedGraph::IndexedGraph(std::span<const NodeOutput> outputs) {
  for (const NodeOutput& output : outputs) visit(output.node, *this);
  std::vector<bool> is_state(nodes.size());
  int entry = 0;
  for (std::size_t id = 0; id < nodes.size(); ++id) {
    const Node& node = *nodes[id];
    first_entry.push_back(entry);
    entry += node.outputs;
    if (node.isVariable()) variables.push_back(static_cast<int>(id));
    for (std::size_t i = node.arguments(); i < node.inputs.size(); ++i)
      is_state[static_cast<std::size_t>(idOf(node.inputs[i].node.get()))] = true;
  }
  first_entry.push_back(entry);
  for (const int id : variables) (is_state[static_cast<std::size_t>(id)] ? states : arguments).push_back(id);
  for (const NodeOutput& output : outputs) heads.push_back(entryOf(output));
}

}  // namespace pitwall::graph
