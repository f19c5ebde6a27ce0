// The backward pass of a program.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/executor.h"
#include "runtime/graph/executor/program.h"

namespace pitwall::graph {

struct BackwardOptions {
  std::vector<GradientRequest> requests;  // by node; of variables
  std::int64_t sum_cap = 8;               // MXNET_EXEC_INPLACE_GRAD_SUM_CAP
};

// Adds the operations that compute the gradients asked for, and no others, after those of the forward pass; tensors for the
// gradients (Tensor::gradient_of) and for those that the caller gives (Tensor::head).
//
// Several gradients of one tensor are summed: fewer than sum_cap by one kernel, else one after the other as they come. What the
// backward pass reads of nodes with the attribute __force_mirroring__ is computed again, so that it need not be kept.
//
// Returns the variables whose gradient is asked for and is zero, since no output depends on them. Errors: unsupported, naming
// the node, for an operator without gradient.
Result<std::vector<int>> addBackwardPass(const IndexedGraph& graph, LoweredGraph& lowered,
                                         const BackwardOptions& options);

}  // namespace pitwall::graph
