// Finds the lowest level of a balanced binary tree over links: 2^depth places, of which place 0 has the root and each other place p is
// linked with place p - lowest set bit of p. A device may fill several places next to each other, which then need no link.
#pragma once

#include <optional>
#include <vector>

#include "runtime/kvstore/link_trees.h"

namespace pitwall::kvstore {

// Halves the devices again and again so that the links within the halves weigh most (Kernighan and Lin, 1970), and links the halves by
// the best link from the one's root. Of some attempts with devices in other orders the result with the greatest weight; none: no
// attempt found enough links.
std::optional<std::vector<int>> leavesByBisection(const Links& links, int root);

// Up to depth 3 the tree with the greatest weight, of equals the first by device numbers; deeper the first one. None: there is none,
// or it was not found in 10 million steps.
std::optional<std::vector<int>> leavesByBacktracking(const Links& links, int root);

}  // namespace pitwall::kvstore
