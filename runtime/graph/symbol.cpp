#include "runtime/symbol.h"

#include <fmt/format.h>

#include <limits>

#include "db/try.h"
#include "runtime/graph/infer_shapes.h"
#include "runtime/graph/infer_types.h"
#include "runtime/graph/make_node.h"
#include "runtime/graph/named_operators.h"
#include "runtime/graph/node.h"

namespace pitwall {
namespace {

std::vector<std::string> namesOf(const graph::IndexedGraph& indexed, const std::vector<int>& ids) {
  std::vector<std::string> names;
  for (const int id : ids) names.push_back(indexed.nodes[static_cast<std::size_t>(id)]->name);
  return names;
}

}  // namespace

Symbol Symbol::variable(std::string name, Attributes attributes) {
  return Symbol({{graph::makeVariable(std::move(name), std::move(attributes)), 0}});
}

Result<Symbol> Symbol::make(std::string_view op, std::string name, const std::vector<Symbol>& inputs,
                            Attributes attributes) {
  const graph::NamedOperator* found = graph::findNamedOperator(op);
  if (found == nullptr)
    return fail(ErrorCode::notFound, fmt::format("{}: there is no operator {}", name, op));
  std::vector<graph::NodeOutput> outputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].size() != 1)
      return fail(ErrorCode::invalidInput,
                  fmt::format("{} ({}): input {} has {} outputs, must have 1: choose one with [i]", name, op,
                              i, inputs[i].size()));
    outputs.push_back(inputs[i].outputs_[0]);
  }
  if (found->counts_inputs != nullptr)
    attributes.try_emplace(found->counts_inputs, std::to_string(inputs.size()));
  const graph::NodePtr node =
      PITWALL_TRY(graph::makeNode(*found, std::move(name), std::move(outputs), std::move(attributes)));
  Symbol result;
  for (int i = 0; i < node->visible_outputs; ++i) result.outputs_.push_back({node, i});
  return result;
}

Symbol Symbol::group(const std::vector<Symbol>& symbols) {
  Symbol result;
  for (const Symbol& symbol : symbols)
    result.outputs_.insert(result.outputs_.end(), symbol.outputs_.begin(), symbol.outputs_.end());
  return result;
}

std::string_view Symbol::name() const { return size() == 1 ? std::string_view(outputs_[0].node->name) : ""; }

const Attributes& Symbol::attributes() const {
  static const Attributes none;
  return size() == 1 ? outputs_[0].node->attributes : none;
}

Symbol Symbol::internals() const {
  Symbol result;
  for (const graph::NodePtr& node : graph::IndexedGraph(outputs_).nodes) {
    for (int i = 0; i < node->visible_outputs; ++i) result.outputs_.push_back({node, i});
  }
  return result;
}

Result<Symbol> Symbol::find(std::string_view output_name) const {
  for (const graph::NodeOutput& output : outputs_) {
    if (graph::outputName(output) == output_name) return Symbol({output});
  }
  return fail(ErrorCode::notFound, fmt::format("there is no output {} among {}", output_name, size()));
}

std::vector<std::string> Symbol::outputNames() const {
  std::vector<std::string> names;
  for (const graph::NodeOutput& output : outputs_) names.push_back(graph::outputName(output));
  return names;
}

std::vector<std::string> Symbol::arguments() const {
  const graph::IndexedGraph indexed(outputs_);
  return namesOf(indexed, indexed.arguments);
}

std::vector<std::string> Symbol::auxiliaryStates() const {
  const graph::IndexedGraph indexed(outputs_);
  return namesOf(indexed, indexed.states);
}

std::map<std::string, int> Symbol::operatorCounts() const {
  std::map<std::string, int> counts;
  for (const graph::NodePtr& node : graph::IndexedGraph(outputs_).nodes) {
    if (!node->isVariable()) ++counts[node->op->name];
  }
  return counts;
}

Result<InferredShapes> Symbol::inferShapes(const std::map<std::string, Shape>& known) const {
  const graph::IndexedGraph indexed(outputs_);
  const auto entries = PITWALL_TRY(graph::inferEntries(indexed, known));
  InferredShapes result;
  const auto ofVariable = [&](int id) {
    return entries[static_cast<std::size_t>(indexed.first_entry[static_cast<std::size_t>(id)])];
  };
  for (const int id : indexed.arguments) result.arguments.push_back(ofVariable(id));
  for (const int id : indexed.states) result.auxiliary_states.push_back(ofVariable(id));
  for (const int entry : indexed.heads) result.outputs.push_back(entries[static_cast<std::size_t>(entry)]);
  return result;
}

Result<InferredTypes> Symbol::inferTypes(const std::map<std::string, DType>& known) const {
  const graph::IndexedGraph indexed(outputs_);
  const auto entries = PITWALL_TRY(graph::inferEntryTypes(indexed, known));
  InferredTypes result;
  const auto ofVariable = [&](int id) {
    return entries[static_cast<std::size_t>(indexed.first_entry[static_cast<std::size_t>(id)])];
  };
  for (const int id : indexed.arguments) result.arguments.push_back(ofVariable(id));
  for (const int id : indexed.states) result.auxiliary_states.push_back(ofVariable(id));
  for (const int entry : indexed.heads) result.outputs.push_back(entries[static_cast<std::size_t>(entry)]);
  return result;
}

Result<Flop> Symbol::forwardFlop(const std::map<std::string, Shape>& known) const {
  const graph::IndexedGraph indexed(outputs_);
  const auto entries = PITWALL_TRY(graph::inferEntries(indexed, known));
  Flop total = 0;
  for (std::size_t id = 0; id < indexed.nodes.size(); ++id) {
    const graph::Node& node = *indexed.nodes[id];
    if (node.isVariable()) continue;
    const Flop flop = node.op->flop(node.attributes, graph::shapesOf(indexed, entries, static_cast<int>(id)));
    if (__builtin_add_overflow(total, flop, &total)) return std::numeric_limits<Flop>::max();
  }
  return total;
}

}  // namespace pitwall
