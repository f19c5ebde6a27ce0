// A program with kernels: the layout of every tensor, the reorders between them, and what is computed from weights once.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/backend.h"
#include "runtime/graph/executor/program.h"

namespace pitwall::graph {

// One kernel. Tensors by number.
struct Step {
  std::string layer;
  const char* name = "";
  OperatorKindDesc desc;
  KernelPtr kernel;
  std::vector<int> inputs, outputs;
  Flop flop = 0;
};

// A weight in the layout that a kernel wants: `step` makes `to` of `from`.
struct Constant {
  int from = -1, to = -1;
  KernelPtr reorder;
};

struct Schedule {
  std::vector<TensorSpec> specs;  // of each tensor of the program, and of those that were added here
  std::vector<Step> steps;
  std::vector<Constant> constants;
  std::vector<int> outputs;  // row-major
};

// By tensor: whether a step reads its memory.
std::vector<bool> readBySteps(const Program& program, const Schedule& schedule);

// `is_input`: by tensor, whether it is an array that changes from pass to pass. Adds tensors for reordered data to the
// program. Errors: those of Backend::prepare(), naming the node.
Result<Schedule> schedule(Program& program, const std::vector<bool>& is_input, Backend& backend);

}  // namespace pitwall::graph
