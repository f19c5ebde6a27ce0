// The shape of every output of every node.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/graph/named_operators.h"

namespace pitwall::graph {

// More elements than this have no array.
inline constexpr std::int64_t kMostElements = std::int64_t{1} << 40;

// By entry. Errors: as Symbol::inferShapes().
Result<std::vector<Shape>> inferEntries(const IndexedGraph& graph, const std::map<std::string, Shape>& known);

// Those of one node, by its id.
NodeShapes shapesOf(const IndexedGraph& graph, const std::vector<Shape>& entries, int id);

}  // namespace pitwall::graph
