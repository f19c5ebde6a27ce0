// Nodes that are complete: the attributes checked, and every input there.
#pragma once

#include <string>
#include <vector>

#include "runtime/graph/named_operators.h"

namespace pitwall::graph {

NodePtr makeVariable(std::string name, Attributes attributes);

// The node of an operator. Inputs missing at the end become variables, which get the node's attributes as MXNet's do.
// Errors: as Symbol::make().
Result<NodePtr> makeNode(const NamedOperator& op, std::string name, std::vector<NodeOutput> inputs,
                         Attributes attributes);

}  // namespace pitwall::graph
