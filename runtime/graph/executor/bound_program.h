// A schedule bound to arrays and memory: what the engine runs.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/array/array.h"
#include "runtime/array/bulk.h"
#include "runtime/array/call.h"
#include "runtime/array/kernel_captures.h"
#include "runtime/executor.h"
#include "runtime/graph/executor/memory_pool.h"
#include "runtime/graph/executor/plan_memory.h"
#include "runtime/graph/executor/weights.h"

namespace pitwall::graph {

// Where a kernel finds a tensor when it runs: one of the three, or none where it does not read it.
struct Place {
  const MemorySlot* planned = nullptr;
  Bytes offset = 0;        // there
  Chunk* chunk = nullptr;  // of an array
  int weight = -1;         // a tensor that Weights has computed
};

struct BoundStep {
  PreparedPtr prepared;
  std::vector<Place> inputs, outputs;
  Place workspace;  // of the plan, or none: the thread's
  std::vector<Variable> reads, writes;
  bool fills_memory = false;     // the first of a pass
  bool releases_memory = false;  // the last that needs the program's memory, where it is not kept
};
using BoundStepPtr = std::shared_ptr<const BoundStep>;

// Steps that a GPU runs as one CUDA graph, and the engine as one operator.
struct CapturedSteps {
  std::vector<BoundStepPtr> steps;
  std::vector<Variable> reads, writes;
  OperatorId facts;
  std::unique_ptr<KernelCaptures> captures;
};

// An array that kernels read or write, in the layout that they need.
struct BoundArray {
  NDArray array;
  LayoutPtr layout;
};

struct BoundProgram {
  BoundProgram(Session& in, Device on, std::shared_ptr<MemoryPool> memory)
      : session(in), device(on), pool(std::move(memory)) {}

  // Gives the arrays of one pass the layouts that its kernels need. Errors: invalidInput for an array that cannot have it any more.
  Status arrange(std::span<const BoundArray> of_pass) const;
  // Pushes the steps of a pass. The program must not be destroyed before they have run. `seed` is that of random numbers.
  void pushForward(BulkKind bulk, std::uint64_t seed) const { push(0, schedule.forward_steps, bulk, seed); }
  void pushBackward(std::uint64_t seed) const {
    push(schedule.forward_steps, steps.size(), BulkKind::backward, seed);
  }

  // Steps that are pushed from now on use `array` for the argument, if the program reads it. It has the shape, element type
  // and device of the array before.
  Status replaceArgument(const std::string& name, const NDArray& array);
  // New arrays for the results that are still held: the next pass leaves those as they are.
  Status renewHeldOutputs();

  Session& session;
  const Device device;
  const std::shared_ptr<MemoryPool> pool;
  Program program;
  Schedule schedule;
  MemoryPlan plan;
  double fusion_seconds = 0;                                // that the search for operators to fuse took
  std::vector<NDArray> arrays;                              // by tensor
  std::vector<BoundArray> forward_arrays, backward_arrays;  // that the kernels of a pass read
  std::vector<BoundArray> written_gradients;                // by the backward pass, without being read
  std::vector<NDArray> zero_gradients;                      // of arguments on which no output depends
  std::vector<NDArray> heads;  // by output: its gradient; empty where none is needed
  std::unique_ptr<Weights> weights;
  std::vector<MemorySlot*> blocks;    // the memory of the plan, one or none
  std::vector<ChunkPtr> own_outputs;  // by tensor: results that are outputs
  std::vector<BoundStepPtr> steps;    // a step that has been pushed never changes: it is replaced
  std::vector<NDArray> outputs;

 private:
  void push(std::size_t from, std::size_t to, BulkKind bulk, std::uint64_t seed) const;
  Status run(const BoundStep& step, std::uint64_t seed) const;  // one kernel; on a thread of the engine
  // The memory of a step, made if it is not there yet.
  struct Addresses {
    std::vector<const void*> from;
    std::vector<void*> to;
    void* workspace = nullptr;
  };
  Status locate(const BoundStep& step, Addresses& addresses) const;
  // The steps from `first` on that can be one CUDA graph, and their end; nullptr where there are less than two.
  std::shared_ptr<CapturedSteps> capturedFrom(std::size_t first, std::size_t to) const;
  Status runCaptured(const CapturedSteps& range) const;
  void changePlaces(int base, Chunk* chunk);  // of the tensor and its views, in all steps

  mutable std::map<std::size_t, std::shared_ptr<CapturedSteps>> captured_;  // by the first step
};

// The variables of a step by its places; each also writes the pool's.
void listVariables(BoundStep& step, const MemoryPool& pool);

struct BindRequest {
  const Symbol& symbol;
  const std::map<std::string, NDArray>& arrays;
  const Executor::Options& options;  // each gradient that is asked for has an array
  Executor::Mode mode;
};

// Errors: as Executor::bind().
Status bindProgram(const BindRequest& request, BoundProgram& bound);

}  // namespace pitwall::graph
