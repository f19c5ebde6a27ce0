// Nodes that compute what another node computes.
#pragma once

#include <vector>

#include "runtime/graph/node.h"

namespace pitwall::graph {

// By node: the first one with the same operator, attributes and inputs, which is the node itself where there is none before it.
// Operators with states and those that draw random numbers are never equal.
std::vector<int> firstEqualNodes(const IndexedGraph& graph);

}  // namespace pitwall::graph
