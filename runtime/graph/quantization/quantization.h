// The steps of quantize().
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "runtime/graph/node.h"
#include "runtime/number_range.h"
#include "runtime/quantization.h"

namespace pitwall::graph {

// Input `input` of node `node`, by id.
struct Edge {
  int node = 0, input = 0;
  friend auto operator<=>(const Edge&, const Edge&) = default;
};

// The inputs that become 8-bit numbers: those of convolutions and dense layers, and those of what computes between them.
std::set<Edge> quantizedEdges(const IndexedGraph& graph, const std::set<std::string>& excluded);

// By entry of `entries`, of the numbers that the batches lead to. Errors: as quantize().
Result<std::map<int, NumberRange>> calibrate(Session& session, const IndexedGraph& graph,
                                             const std::map<std::string, NDArray>& arrays,
                                             const std::vector<int>& entries, const QuantizeOptions& options);

// Where to cut off numbers whose absolute values are counted in bins of one width, from 0 on: the last bin that stays. Tries from `steps` bins on, and
// takes the cut after which the distribution differs least when its bins are joined to `steps` of them.
std::size_t leastDivergentCut(std::span<const double> counts, std::size_t steps);

}  // namespace pitwall::graph
