#include "analyzer/dependencies/graph.h"

#include <algorithm>
#include <numeric>

namespace pitwall::analysis {

void Graph::setEdges(std::span<const Edge> edges) {
  first_.assign(nodes.size() + 1, 0);
  for (const auto& edge : edges) ++first_[edge.to + 1];
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  waits_.resize(edges.size());
  for (const auto& edge : edges) waits_[next[edge.to]++] = {edge.from, edge.kind};
}

std::uint32_t Graph::into(std::uint32_t node, EdgeKind kind) const {
  const auto waits = into(node);
  const auto found =
      std::find_if(waits.begin(), waits.end(), [kind](const Wait& wait) { return wait.kind == kind; });
  return found == waits.end() ? kNone : found->from;
}

}  // namespace pitwall::analysis
