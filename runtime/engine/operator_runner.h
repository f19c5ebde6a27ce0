// Runs one operator on the calling thread: errors of its inputs, its own error, exceptions, recording.
#pragma once

#include <functional>

#include "runtime/engine/completion.h"
#include "runtime/engine/operator_errors.h"
#include "runtime/engine/operator_pool.h"
#include "runtime/profiler/nvtx/operator_ranges.h"

namespace pitwall::engine {

// The device as db/ring_format.h numbers it.
std::uint8_t ringDevice(Device device);

class OperatorRunner {
 public:
  OperatorRunner(Profiler& profiler, const EngineOptions& options);

  // Runs or skips a single operator and destroys its function, so that nothing it holds outlives the
  // operator. `ready` is the time when it could have run, 0 = unknown.
  void run(Operator& op, Ticks ready, bool is_bulk);

  // Starts or skips an operator that completes later. Its Completion calls `receiver`. True when it has
  // completed already: finish() it. False: the thread whose arrive() returns true finishes it.
  bool start(Operator& op, CompletionReceiver& receiver);
  // Called once when the function has returned (by start()) and once when the operator was completed; true
  // the second time. After false the operator belongs to another thread.
  static bool arrive(Operator& op) { return op.waiting.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  // Destroys the function and records the operator, which ended at `ended`.
  void finish(Operator& op, Ticks ended = Profiler::now());
  // The Completion was destroyed uncalled. False when start() on this thread deals with it, else the operator
  // has failed and is to be completed.
  bool failDropped(Operator& op);

  // Runs the operators of a segment in order and frees them. False: they have left work on a GPU, after which `receiver` is
  // called; the thread whose arrive() returns true finishes the segment.
  bool runSegment(Operator& segment, OperatorCache& cache, CompletionReceiver& receiver);

  // Whether operators of GPUs end when EngineOptions::finish_gpu_work says.
  bool gpuEndsLater() const { return finish_gpu_work_ != nullptr; }

  OperatorErrors& errors() { return errors_; }

  // Facts of the operator that ends a variable, with MXNet's name.
  OperatorId deletionFacts() const { return deletion_facts_; }

 private:
  struct Starting;
  static constinit thread_local Starting* starting_;

  Status call(Operator& op, bool is_bulk);
  void startOnGpu(Operator& op, CompletionReceiver& receiver);
  void callStart(Operator& op, CompletionReceiver& receiver);
  void open(Operator& op);
  Status droppedError(const Operator& op) const;
  std::string describe(OperatorId facts) const;

  Profiler& profiler_;
  const SiteId bulk_site_;
  const OperatorId deletion_facts_;
  const std::function<void()> before_gpu_operator_;
  const std::function<void(Device, Completion)> finish_gpu_work_;
  nvtx::OperatorRanges ranges_;
  OperatorErrors errors_;
};

}  // namespace pitwall::engine
