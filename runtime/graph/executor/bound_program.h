// A schedule bound to arrays and memory: what the engine runs.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/array/array.h"
#include "runtime/array/call.h"
#include "runtime/executor.h"
#include "runtime/graph/executor/plan_memory.h"
#include "runtime/graph/executor/weights.h"

namespace pitwall::graph {

// Where a kernel finds a tensor when it runs: one of the three.
struct Place {
  void* planned = nullptr;
  Chunk* chunk = nullptr;  // of an array
  int weight = -1;         // a tensor that Weights has computed
};

struct BoundStep {
  PreparedPtr prepared;
  std::vector<Place> inputs, outputs;
  std::vector<Variable> reads, writes;
};

struct BoundProgram {
  BoundProgram(Session& in, Device on) : session(in), device(on) {}

  // One kernel; on a thread of the engine.
  Status run(const BoundStep& step) const;

  Session& session;
  const Device device;
  Program program;
  Schedule schedule;
  MemoryPlan plan;
  std::vector<NDArray> arrays;       // by tensor
  std::vector<NDArray> read_arrays;  // those that kernels read, row-major
  std::unique_ptr<Weights> weights;
  std::vector<Block> blocks;          // of the plan
  std::vector<ChunkPtr> own_outputs;  // by tensor: results that are outputs
  std::vector<BoundStep> steps;
  std::vector<NDArray> outputs;
  Variable sequence;  // kernels run one after the other
};

// Errors: as Executor::bind().
Status bindProgram(const Symbol& symbol, std::map<std::string, NDArray> arrays, Executor::Options options,
                   BoundProgram& bound);

}  // namespace pitwall::graph
