// A program with kernels: the layout of every tensor, the reorders between them, and what is computed from weights once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/backend.h"
#include "runtime/graph/executor/program.h"

namespace pitwall::graph {

// One kernel. Tensors by number; an input that the kernel does not read is -1.
struct Step {
  std::string layer;
  const char* name = "";
  OperatorKindDesc desc = {};
  KernelPtr kernel = nullptr;
  std::vector<int> inputs = {}, outputs = {};
  Flop flop = 0;
  Pass pass = Pass::inference;
  Phase phase = Phase::forward;
};

// A weight in the layout that a kernel wants: `step` makes `to` of `from`.
struct Constant {
  int from = -1, to = -1;
  KernelPtr reorder;
};

struct Schedule {
  std::vector<TensorSpec> specs;  // of each tensor of the program, and of those that were added here
  std::vector<Step> steps;
  std::size_t forward_steps = 0;  // so many of them, the first, are those of the forward pass
  std::vector<Constant> constants;
  std::vector<int> outputs;  // row-major
};

// By tensor: whether a step reads its memory.
std::vector<bool> readBySteps(const Program& program, const Schedule& schedule);

// What may be done about the layout of an array whose contents the steps read.
enum class ArrayLayout : std::uint8_t {
  reordered,  // it stays row-major; steps reorder its contents in each pass
  constant,   // it stays row-major; its contents are reordered when they have changed
  adopted,    // the array itself takes the layout of the first kernel that reads it
};

// `layouts` by tensor, of variables and gradients. Adds tensors for reordered data to the program. Errors: those of
// Backend::prepare(), naming the node.
Result<Schedule> schedule(Program& program, const std::vector<ArrayLayout>& layouts, Backend& backend);

// For inference, the faster of two: convolutions as the backend's library chooses first, or on blocked data, where that takes less time by
// the backend's measurements. Changes the convolutions of the program; else as schedule().
Result<Schedule> fastestSchedule(Program& program, const std::vector<ArrayLayout>& layouts, Backend& backend);

}  // namespace pitwall::graph
