#include "runtime/graph/make_node.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "db/try.h"

namespace pitwall::graph {
namespace {

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// How MXNet's programs fill a state that was made so; nullptr: as they fill arguments.
const char* initialiserOf(const std::string& input) {
  if (input == "moving_mean") return "[\"zero\", {}]";
  if (input == "moving_var") return "[\"one\", {}]";
  return nullptr;
}

Status checkInputs(const Node& node, const std::vector<std::string>& names) {
  const bool counted = node.op->counts_inputs != nullptr;
  if (node.inputs.size() > names.size() || (counted && node.inputs.size() != names.size()))
    return fail(ErrorCode::invalidInput,
                fmt::format("{}: it takes {} input{}{}, {} given", describe(node), names.size(),
                            names.size() == 1 ? "" : "s", counted ? "" : " (" + listed(names) + ")",
                            node.inputs.size()));
  for (std::size_t i = node.arguments(); i < node.inputs.size(); ++i) {
    if (!node.inputs[i].node->isVariable())
      return fail(ErrorCode::invalidInput,
                  fmt::format("{}: its input {} is updated by the operator, so it must be a variable, not {}",
                              describe(node), names[i], describe(*node.inputs[i].node)));
  }
  return {};
}

}  // namespace

NodePtr makeVariable(std::string name, Attributes attributes) {
  auto node = std::make_shared<Node>();
  node->name = std::move(name);
  node->attributes = std::move(attributes);
  return node;
}

Result<NodePtr> makeNode(const NamedOperator& op, std::string name, std::vector<NodeOutput> inputs,
                         Attributes attributes) {
  auto node = std::make_shared<Node>();
  node->op = &op;
  node->name = std::move(name);
  node->inputs = std::move(inputs);
  node->attributes = std::move(attributes);
  const Status valid = checkAttributes(op.attributes, node->attributes);
  if (!valid.has_value())
    return fail(ErrorCode::invalidInput, fmt::format("{}: {}", describe(*node), valid.error().message));
  std::vector<std::string> names = op.inputs(node->attributes);
  const std::vector<std::string> states = op.states(node->attributes);
  const std::size_t arguments = names.size();
  names.insert(names.end(), states.begin(), states.end());
  const std::size_t given = node->inputs.size();
  node->states = given > arguments ? static_cast<int>(given - arguments) : 0;
  PITWALL_TRY(checkInputs(*node, names));
  for (std::size_t i = given; i < names.size(); ++i) {
    const std::string variable = node->name.empty() ? names[i] : node->name + "_" + names[i];
    Attributes copied = node->attributes;
    if (const char* initialiser = initialiserOf(names[i])) copied["__init__"] = initialiser;
    node->inputs.push_back({makeVariable(variable, std::move(copied)), 0});
  }
  node->states = static_cast<int>(states.size());
  node->outputs = static_cast<int>(op.outputs(node->attributes).size());
  node->visible_outputs = op.visible_outputs(node->attributes);
  return NodePtr(std::move(node));
}

}  // namespace pitwall::graph
