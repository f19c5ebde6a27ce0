// Which memory each intermediate result and each kernel's workspace has: those that are not needed at the same time share it.
#pragma once

#include <cstdint>
#include <vector>

#include "db/units.h"
#include "runtime/graph/executor/schedule.h"

namespace pitwall::graph {

struct MemoryPlanOptions {
  bool in_place = true;  // MXNET_EXEC_ENABLE_INPLACE
  // NNVM_EXEC_MATCH_RANGE: of blocks that overlap the larger has at most so many times the bytes; 0: none do.
  std::int64_t match_range = 16;
  std::int64_t paths = 1;  // NNVM_EXEC_NUM_TEMP: memory is shared only within each of so many paths of steps
  // Of kernels too. A CPU's have the workspace of their thread.
  bool workspaces = false;
};

// A part of the memory of a pass. Blocks that are not needed at the same time may overlap.
struct PlannedBlock {
  Bytes offset = 0, bytes = 0;
};

struct MemoryPlan {
  std::vector<int> block_of;         // by tensor: its block, or -1 (arrays, weights, outputs)
  std::vector<int> workspace_of;     // by step: its block, or -1
  std::vector<PlannedBlock> blocks;  // of results that are written one over the other, and of workspaces
  Bytes unshared = 0;                // of all that is planned, if none shared memory
  Bytes total() const;               // from offset 0 on
};

// A result may be written over an input of its step when nothing reads that later and the kernel allows it: a function of
// each element, or the sum into which a convolution adds.
MemoryPlan planMemory(const Program& program, const Schedule& schedule, const MemoryPlanOptions& options);

}  // namespace pitwall::graph
