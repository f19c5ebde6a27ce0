// The nodes of a Symbol, and the same graph with numbers instead of pointers, for passes over it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/symbol.h"

namespace pitwall::graph {

struct NamedOperator;
using NodePtr = std::shared_ptr<const Node>;

// An operator with its inputs, or a variable. Complete once made: the attributes are valid for the operator, and there
// are as many inputs as it takes.
struct Node {
  const NamedOperator* op = nullptr;  // null = variable
  std::string name;
  Attributes attributes;
  std::vector<NodeOutput> inputs;  // arguments, then auxiliary states
  int outputs = 1;                 // with those that are not visible
  int visible_outputs = 1;
  int states = 0;  // how many of the inputs, at their end, are auxiliary states

  Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node();  // of a chain of any length, without recursion

  bool isVariable() const { return op == nullptr; }
  std::size_t arguments() const { return inputs.size() - static_cast<std::size_t>(states); }
};

// "conv1 (Convolution)"; for messages.
std::string describe(const Node& node);

// "conv1_output" of one output; of a variable its name.
std::string outputName(const NodeOutput& output);

// Every node that the outputs need has an id, inputs before what uses them, in the order of MXNet's depth-first visit
// of the outputs from the first on. Every output of a node, visible or not, has an entry.
struct IndexedGraph {
  std::vector<NodePtr> nodes;    // by id
  std::vector<int> first_entry;  // of each node's outputs; one more at the end: the number of entries
  std::vector<int> variables;    // ids
  std::vector<int> arguments;    // ids of variables
  std::vector<int> states;       // ids of variables that an operator has as auxiliary state
  std::vector<int> heads;        // entries of the outputs
  std::unordered_map<const Node*, int> ids;

  explicit IndexedGraph(std::span<const NodeOutput> outputs);
  int entries() const { return first_entry.back(); }
  int idOf(const Node* node) const { return ids.at(node); }
  int entryOf(const NodeOutput& output) const {
    return first_entry[static_cast<std::size_t>(idOf(output.node.get()))] + output.index;
  }
};

}  // namespace pitwall::graph
