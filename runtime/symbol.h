// A network as a graph of named operators, before it has arrays: composed, saved, loaded, and asked for its shapes and types.
//
//   const Symbol data = Symbol::variable("data");
//   const Symbol fc = PITWALL_TRY(Symbol::make("FullyConnected", "fc1", {data}, {{"num_hidden", "10"}}));
//   const Symbol net = PITWALL_TRY(Symbol::make("SoftmaxOutput", "softmax", {fc}));
//   net.arguments();   // data, fc1_weight, fc1_bias, softmax_label
//
// Operators, attributes, names and the order of arguments are those of MXNet 1.9.1, and so are the files.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/result.h"
#include "db/units.h"
#include "runtime/tensor.h"

namespace pitwall {

// As MXNet writes them: "kernel": "(3, 3)", "no_bias": "True".
using Attributes = std::map<std::string, std::string>;

namespace graph {
struct Node;  // runtime/graph/node.h

// One output of a node. A variable has one.
struct NodeOutput {
  std::shared_ptr<const Node> node;
  int index = 0;
  friend bool operator==(const NodeOutput&, const NodeOutput&) = default;
};
}  // namespace graph

// In the order of Symbol::arguments(), auxiliaryStates() and outputNames().
struct InferredShapes {
  std::vector<Shape> arguments, auxiliary_states, outputs;
};

struct InferredTypes {
  std::vector<DType> arguments, auxiliary_states, outputs;
};

// Outputs of nodes. A copy shares the nodes, which never change; any thread may use its copy.
class Symbol {
 public:
  Symbol() = default;  // no outputs
  explicit Symbol(std::vector<graph::NodeOutput> outputs) : outputs_(std::move(outputs)) {}

  static Symbol variable(std::string name, Attributes attributes = {});

  // An operator by MXNet's name, with inputs in MXNet's order: arguments, then auxiliary states. Inputs missing at
  // the end become variables NAME_weight, NAME_bias, NAME_moving_mean, ... Errors, naming operator, node and remedy:
  // notFound for an unknown operator; invalidInput for an attribute or for inputs that the operator does not have.
  static Result<Symbol> make(std::string_view op, std::string name, const std::vector<Symbol>& inputs,
                             Attributes attributes = {});

  // The outputs of all, in their order.
  static Symbol group(const std::vector<Symbol>& symbols);

  std::size_t size() const { return outputs_.size(); }  // outputs
  Symbol operator[](std::size_t i) const { return Symbol({outputs_[i]}); }
  const std::vector<graph::NodeOutput>& outputs() const { return outputs_; }
  // The name of the node of the only output; "" when there are several.
  std::string_view name() const;
  // The attributes of that node.
  const Attributes& attributes() const;

  // The outputs of every node, inputs before what uses them.
  Symbol internals() const;
  // The output of this name: "fc1_output" of internals(). Errors: notFound.
  Result<Symbol> find(std::string_view output_name) const;

  // "fc1_output", "softmax_output"; of a variable its name.
  std::vector<std::string> outputNames() const;
  // Variables that are no auxiliary states, depth first.
  std::vector<std::string> arguments() const;
  // Variables that an operator updates itself: moving means and variances.
  std::vector<std::string> auxiliaryStates() const;
  // How many nodes there are of each operator.
  std::map<std::string, int> operatorCounts() const;

  // From the shapes of some arguments or auxiliary states, by name; an extent of 0 is unknown. A variable's attribute
  // __shape__ counts as given. Shapes are inferred in both directions: weights from data, data from what uses it.
  // Errors: notFound for a name that is no variable; invalidInput naming the node, its operator and the shapes that
  // contradict each other, or the arguments whose shape does not follow.
  Result<InferredShapes> inferShapes(const std::map<std::string, Shape>& known) const;

  // The same for element types: of some arguments or auxiliary states, by name. A variable's attribute __dtype__ counts as given, and
  // what does not follow is float32. Errors: notFound for a name that is no variable; invalidInput naming the node, its operator and the
  // types that contradict each other; unsupported for a type that arrays do not have.
  Result<InferredTypes> inferTypes(const std::map<std::string, DType>& known) const;

  // Floating-point operations of one forward pass. Errors: as inferShapes().
  Result<Flop> forwardFlop(const std::map<std::string, Shape>& known) const;

  // The file NAME-symbol.json of MXNet 1.9.1, also as older versions and Gluon's export write it. Errors: notFound or
  // io for the file; invalidInput for its contents, naming file and node; unsupported for an operator that is not
  // known here, naming it and its node.
  static Result<Symbol> load(const std::string& path);
  static Result<Symbol> fromJson(std::string_view text, const std::string& shown_name);
  std::string toJson() const;
  // Replaces a file at the path when all is written. Errors: invalidInput, io.
  Status save(const std::string& path) const;

 private:
  std::vector<graph::NodeOutput> outputs_;
};

}  // namespace pitwall
