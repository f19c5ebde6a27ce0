// The element type of every output of every node.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/graph/named_operators.h"

namespace pitwall::graph {

// By entry. Errors: as Symbol::inferTypes().
Result<std::vector<DType>> inferEntryTypes(const IndexedGraph& graph,
                                           const std::map<std::string, DType>& known);

}  // namespace pitwall::graph
