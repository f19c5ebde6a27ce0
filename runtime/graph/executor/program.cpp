#include "runtime/graph/executor/program.h"

#include "db/try.h"
#include "runtime/graph/infer_shapes.h"
#include "runtime/graph/named_operators.h"

namespace pitwall::graph {

namespace {

// One node after the other; `tensors` has the tensor of each entry.
class Lowering {
 public:
  Lowering(const IndexedGraph& graph, const std::vector<Shape>& entries)
      : graph_(graph), entries_(entries), tensors_(entries.size(), -1) {}

  Result<Program> run() {
    for (int id = 0; id < static_cast<int>(graph_.nodes.size()); ++id) {
      const Node& node = *graph_.nodes[position(id)];
      if (node.isVariable()) {
        const int entry = graph_.first_entry[position(id)];
        tensors_[position(entry)] = add(node.name, entries_[position(entry)]);
        program_.tensors.back().variable = id;
      } else {
        PITWALL_TRY(lower(id, node));
      }
    }
    for (const int head : graph_.heads) program_.outputs.push_back(tensors_[position(head)]);
    return std::move(program_);
  }

 private:
  int add(std::string name, const Shape& shape) {
    program_.tensors.push_back(Tensor{.name = std::move(name), .shape = shape});
    return static_cast<int>(program_.tensors.size()) - 1;
  }

  Status lower(int id, const Node& node) {
    const NodeShapes shapes = shapesOf(graph_, entries_, id);
    const Lowered lowered = PITWALL_TRY(lowerNode(node, shapes, false));
    const int first = graph_.first_entry[position(id)];
    if (lowered.kind == Lowered::Kind::view) {
      const int base = tensors_[position(graph_.entryOf(node.inputs[0]))];
      tensors_[position(first)] = add(node.name, entries_[position(first)]);
      program_.tensors.back().view_of = base;
      return {};
    }
    Operation operation;
    operation.layer = node.name;
    operation.name = node.op->name;
    operation.desc = lowered.desc;
    for (const int input : lowered.inputs)
      operation.inputs.push_back(tensors_[position(graph_.entryOf(node.inputs[position(input)]))]);
    for (const int output : lowered.outputs) {
      const int entry = first + output;
      tensors_[position(entry)] = add(node.name, entries_[position(entry)]);
      operation.outputs.push_back(tensors_[position(entry)]);
    }
    operation.flop = node.op->flop(node.attributes, shapes);
    program_.operations.push_back(std::move(operation));
    return {};
  }

  const IndexedGraph& graph_;
  const std::vector<Shape>& entries_;
  std::vector<int> tensors_;
  Program program_;
};

}  // namespace

Result<Program> lowerForInference(const IndexedGraph& graph, const std::vector<Shape>& entries) {
  return Lowering(graph, entries).run();
}

int baseOf(const Program& program, int tensor) {
  while (program.tensors[position(tensor)].view_of >= 0) tensor = program.tensors[position(tensor)].view_of;
  return tensor;
}

}  // namespace pitwall::graph
