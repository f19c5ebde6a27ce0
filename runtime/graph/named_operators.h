// The operators of a Symbol, by MXNet's names: what they take and return, and the kernel that computes each.
//
// All functions of an operator get attributes that checkAttributes() accepts. Shapes are in the order of the node's
// inputs: arguments, then auxiliary states.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/units.h"
#include "runtime/graph/attribute_rules.h"
#include "runtime/graph/node.h"
#include "runtime/operator_kind.h"

namespace pitwall::graph {

// Empty: nothing is known. An extent of 0 is not known yet.
struct NodeShapes {
  std::vector<std::optional<Shape>> inputs, outputs;
};

// The element type of an input or output of a node.
struct TypeSlot {
  enum class Kind : std::uint8_t {
    common,  // that of all such inputs and outputs of the node
    any,     // it does not follow from the others: indices
    fixed,   // `type`
    wide,    // float32 where the common type has 16 bits, else the common type: statistics of BatchNorm
  };
  Kind kind = Kind::common;
  DType type = DType::float32;
};

struct NodeTypes {
  std::vector<TypeSlot> inputs, outputs;
};

// Where a kernel of the backward pass finds one of its inputs.
struct GradientSource {
  enum class Kind : std::uint8_t {
    input,   // input `index` of the node
    output,  // output `index` of the node
    extra,  // output `index` of the forward kernel, counted from the first that is no output of the node and no update
    gradient,  // the gradient of output `index` of the node; zeros when it has none
    zeros,     // zeros in the shape of input `index` of the node
  };
  Kind kind = Kind::gradient;
  int index = 0;
  bool is_read = true;  // false: the kernel needs shape and layout alone
};

// One kernel of the gradient of a node.
struct GradientKernel {
  const char* name = "";  // as traces name it; a literal
  OperatorKindDesc desc = {};
  Pass pass = Pass::backward;
  std::vector<GradientSource> inputs = {};  // in the kernel's order
  std::vector<int> gradients =
      {};         // of each output of the kernel: the input of the node whose gradient it is
  int like = -1;  // the input of the node that is `like` of Backend::prepare(); -1: none
  Flop flop = 0;
};

// What computes output 0 again where memory is saved by not keeping it. The node's other outputs are kept.
struct Recomputation {
  OperatorKindDesc desc;
  Pass pass = Pass::inference;
  std::vector<GradientSource> inputs;
};

// How the gradients of a node's inputs follow from those of its outputs. Inputs that are not named have none, such as labels.
struct GradientRule {
  std::vector<GradientKernel> kernels = {};
  std::vector<int> passes = {};  // inputs whose gradient is that of output 0, in the shape of the input
  bool stops = false;            // no input has a gradient: BlockGrad
  bool is_loss = false;          // the gradients do not depend on those of the outputs
  bool is_kept = false;          // the outputs are never computed again: that takes too long, or gives others
  std::optional<Recomputation> recomputation = {};  // instead of the forward kernel
  // Whether there is any. Otherwise a node whose inputs need gradients is an error.
  bool isKnown() const { return stops || !kernels.empty() || !passes.empty(); }
};

// What computes a node.
struct Lowered {
  enum class Kind : std::uint8_t {
    kernel,
    view,  // output 0 has the contents of input 0, perhaps in another shape; `desc` and the lists are empty
  };
  Kind kind = Kind::kernel;
  OperatorKindDesc desc;
  std::vector<int> inputs;   // which inputs of the node the kernel gets, in its order
  std::vector<int> outputs;  // which outputs of the node the kernel writes, in its order
  // Which inputs of the node, auxiliary states, the kernel reads and writes as its outputs after those.
  std::vector<int> updates;
  // The kernel has further outputs, after those, that belong to no output of the node: what its backward pass reads, or
  // what no node uses.
  bool has_workspace = false;
  GradientRule gradient;  // in training
};

struct NamedOperator {
  const char* name;  // as MXNet's files have it: "Convolution", "elemwise_add"
  std::span<const AttributeRule> attributes;
  std::vector<std::string> (*inputs)(const Attributes&);   // names in order: data, weight, bias
  std::vector<std::string> (*states)(const Attributes&);   // moving_mean, moving_var
  std::vector<std::string> (*outputs)(const Attributes&);  // "output", ...; visible ones first
  int (*visible_outputs)(const Attributes&);
  // Fills in what follows from the others, in both directions. Errors: invalidInput with what contradicts.
  Status (*shapes)(const Attributes&, NodeShapes&);
  // Precondition: shapes() accepted them, and all are known. Errors: unsupported with what has no kernel.
  Result<Lowered> (*lower)(const Attributes&, const NodeShapes&, bool training);
  Flop (*flop)(const Attributes&, const NodeShapes&);  // of the forward pass; precondition as lower()
  // The attribute that counts the inputs, where their number varies: num_args.
  const char* counts_inputs = nullptr;
  bool is_random = false;  // equal nodes give different results: numbers drawn in training
  // Changes the slots that have not the node's common type. nullptr: all have it. Errors: unsupported for a type that arrays
  // do not have.
  Status (*types)(const Attributes&, NodeTypes&) = nullptr;
};

// By MXNet's name or one of its other names: _Plus and _plus are elemwise_add. nullptr when there is none.
const NamedOperator* findNamedOperator(std::string_view name);
// All, in the order of their names.
std::span<const NamedOperator* const> namedOperators();

// The same for a node, whose name and operator an error names. Precondition: not a variable.
Status inferNode(const Node& node, NodeShapes& shapes);
Result<Lowered> lowerNode(const Node& node, const NodeShapes& shapes, bool training);

}  // namespace pitwall::graph
