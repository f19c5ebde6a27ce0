// What the backward pass reads of the forward pass: a result as it was kept, or computed again where its node asks for that.
#pragma once

#include <vector>

#include "runtime/graph/executor/program.h"

namespace pitwall::graph {

class ForwardResults {
 public:
  ForwardResults(const IndexedGraph& graph, LoweredGraph& lowered);

  // The tensor of what a kernel of the gradient of node `id` reads; only of kinds input, output and extra. May add operations
  // to the program. A kernel's sources that are not read come after the others.
  int tensorOf(int id, const GradientSource& source);

 private:
  int entryOf(const NodeOutput& output) const { return lowered_.same[position(graph_.entryOf(output))]; }
  bool isMirrored(int entry) const;
  int contentsOf(int entry);
  void computeAgain(int id);
  void emit(int id);
  std::vector<int> inputEntries(int id) const;
  int sourceAgain(int id, const GradientSource& source) const;
  int present(int entry) const {
    return again_[position(entry)] >= 0 ? again_[position(entry)] : lowered_.tensors[position(entry)];
  }
  int copyOf(int tensor);

  const IndexedGraph& graph_;
  LoweredGraph& lowered_;
  std::vector<int> maker_;                      // by entry: its node
  std::vector<bool> may_again_;                 // by node
  std::vector<bool> is_head_;                   // by entry
  std::vector<int> again_;                      // by entry: the tensor of the second computation, or -1
  std::vector<bool> is_again_;                  // by node: it has been computed again
  std::vector<std::vector<int>> extras_again_;  // by node
};

}  // namespace pitwall::graph
