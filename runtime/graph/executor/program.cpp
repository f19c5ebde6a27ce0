#include "runtime/graph/executor/program.h"

#include <algorithm>

#include "db/try.h"
#include "runtime/graph/infer_shapes.h"
#include "runtime/operators/cast.h"
#include "runtime/operators/dropout.h"

namespace pitwall::graph {

namespace {

// How many extra outputs of the kernel the gradient reads.
int extrasRead(const GradientRule& rule) {
  int count = 0;
  for (const GradientKernel& kernel : rule.kernels)
    for (const GradientSource& source : kernel.inputs)
      if (source.kind == GradientSource::Kind::extra) count = std::max(count, source.index + 1);
  return count;
}

// One node after the other.
class Lowering {
 public:
  Lowering(const IndexedGraph& graph, const GraphEntries& entries, const std::vector<int>& first_equal,
           Pass pass)
      : graph_(graph), entries_(entries), first_equal_(first_equal), pass_(pass) {
    const std::size_t count = entries.shapes.size();
    lowered_.tensors.assign(count, -1);
    lowered_.operations.assign(graph.nodes.size(), -1);
    lowered_.nodes.resize(graph.nodes.size());
    lowered_.extras.resize(graph.nodes.size());
    for (std::size_t entry = 0; entry < count; ++entry) lowered_.same.push_back(static_cast<int>(entry));
  }

  Result<LoweredGraph> run() {
    for (int id = 0; id < static_cast<int>(graph_.nodes.size()); ++id) {
      const Node& node = *graph_.nodes[position(id)];
      const int first = graph_.first_entry[position(id)];
      if (first_equal_[position(id)] != id) {
        for (int i = 0; i < node.outputs; ++i) {
          const int same = graph_.first_entry[position(first_equal_[position(id)])] + i;
          lowered_.same[position(first + i)] = same;
          lowered_.tensors[position(first + i)] = lowered_.tensors[position(same)];
        }
      } else if (node.isVariable()) {
        lowered_.tensors[position(first)] = addEntry(node.name, first);
        lowered_.program.tensors.back().variable = id;
      } else {
        PITWALL_TRY(lower(id, node));
      }
    }
    for (const int head : graph_.heads) lowered_.program.outputs.push_back(lowered_.tensors[position(head)]);
    return std::move(lowered_);
  }

 private:
  int add(Tensor tensor) {
    lowered_.program.tensors.push_back(std::move(tensor));
    return static_cast<int>(lowered_.program.tensors.size()) - 1;
  }
  int addEntry(const std::string& name, int entry) {
    return add(
        {.name = name, .shape = entries_.shapes[position(entry)], .dtype = entries_.types[position(entry)]});
  }

  int inputOf(const Node& node, int input) const {
    return lowered_.tensors[position(graph_.entryOf(node.inputs[position(input)]))];
  }

  bool changesType(const Node& node, int output) const {
    return entries_.types[position(graph_.entryOf(node.inputs[0]))] != entries_.types[position(output)];
  }

  Status lower(int id, const Node& node) {
    const NodeShapes shapes = shapesOf(graph_, entries_.shapes, id);
    const Lowered& lowered = lowered_.nodes[position(id)] =
        PITWALL_TRY(lowerNode(node, shapes, pass_ == Pass::forward));
    const int first = graph_.first_entry[position(id)];
    if (lowered.kind == Lowered::Kind::view || (lowered.desc.is<CastDesc>() && !changesType(node, first))) {
      const int base = inputOf(node, 0);
      lowered_.tensors[position(first)] = addEntry(node.name, first);
      lowered_.program.tensors.back().view_of = base;
      return {};
    }
    Operation operation;
    operation.layer = node.name;
    operation.name = node.op->name;
    operation.desc = lowered.desc;
    operation.pass = lowered.desc.is<DropoutDesc>() ? Pass::forward : pass_;
    for (const int input : lowered.inputs) operation.inputs.push_back(inputOf(node, input));
    for (const int output : lowered.outputs) {
      const int entry = first + output;
      lowered_.tensors[position(entry)] = addEntry(node.name, entry);
      operation.outputs.push_back(lowered_.tensors[position(entry)]);
    }
    for (const int state : lowered.updates) operation.outputs.push_back(inputOf(node, state));
    // The backend decides their shapes.
    for (int i = 0; pass_ == Pass::forward && i < extrasRead(lowered.gradient); ++i) {
      operation.outputs.push_back(add({.name = node.name}));
      lowered_.extras[position(id)].push_back(operation.outputs.back());
    }
    operation.flop = node.op->flop(node.attributes, shapes);
    lowered_.operations[position(id)] = static_cast<int>(lowered_.program.operations.size());
    lowered_.program.operations.push_back(std::move(operation));
    return {};
  }

  const IndexedGraph& graph_;
  const GraphEntries& entries_;
  const std::vector<int>& first_equal_;
  const Pass pass_;
  LoweredGraph lowered_;
};

}  // namespace

Result<LoweredGraph> lowerGraph(const IndexedGraph& graph, const GraphEntries& entries,
                                const std::vector<int>& first_equal, Pass pass) {
  return Lowering(graph, entries, first_equal, pass).run();
}

int baseOf(const Program& program, int tensor) {
  while (program.tensors[position(tensor)].view_of >= 0) tensor = program.tensors[position(tensor)].view_of;
  return tensor;
}

Uses usesOf(const Program& program) {
  Uses uses{std::vector<int>(program.tensors.size(), -1), std::vector<int>(program.tensors.size(), 0)};
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    for (const int input : program.operations[i].inputs)
      if (input >= 0) ++uses.readers[position(input)];
    for (const int output : program.operations[i].outputs) uses.maker[position(output)] = static_cast<int>(i);
  }
  for (const Tensor& tensor : program.tensors)
    if (tensor.view_of >= 0) ++uses.readers[position(tensor.view_of)];
  for (const int output : program.outputs) ++uses.readers[position(output)];
  return uses;
}

bool areFloats(const Program& program, const std::vector<int>& tensors) {
  return std::ranges::all_of(tensors,
                             [&](int t) { return program.tensors[position(t)].dtype == DType::float32; });
}

void removeOperations(Program& program, const std::vector<bool>& removed) {
  std::vector<Operation> kept;
  for (std::size_t i = 0; i < program.operations.size(); ++i)
    if (!removed[i]) kept.push_back(std::move(program.operations[i]));
  program.operations = std::move(kept);
}

}  // namespace pitwall::graph
