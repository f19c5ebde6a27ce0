// Runs one operator on the calling thread: errors of its inputs, its own error, exceptions, recording.
#pragma once

#include <functional>
#include <unordered_map>

#include "db/mutex.h"
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

  // Runs the operators of a segment in order and frees them.
  void runSegment(Operator& segment, OperatorCache& cache);

  // EngineOptions::streams; operators of GPUs then end later.
  StreamOrder* streams() const { return streams_; }
  // Runs or skips an operator or a segment that leaves its work on a stream.
  void runOnStream(Operator& op, OperatorCache& cache);
  // Records such an operator: its work began when what was before it on its stream had ended, at the earliest.
  void recordOnStream(const Operator& op, void* stream, Ticks ended);

  OperatorErrors& errors() { return errors_; }

  // Facts of the operator that ends a variable, with MXNet's name.
  OperatorId deletionFacts() const { return deletion_facts_; }

 private:
  struct Starting;
  static constinit thread_local Starting* starting_;

  Status call(Operator& op, bool is_bulk);
  void callUnlessFailed(Operator& op, Ticks started, bool is_bulk);
  void startOnGpu(Operator& op, CompletionReceiver& receiver);
  void callStart(Operator& op, CompletionReceiver& receiver);
  void open(Operator& op);
  Status droppedError(const Operator& op) const;
  std::string describe(OperatorId facts) const;

  Profiler& profiler_;
  const SiteId bulk_site_;
  const OperatorId deletion_facts_;
  const std::function<void()> before_gpu_operator_;
  StreamOrder* const streams_;
  nvtx::OperatorRanges ranges_;
  OperatorErrors errors_;

  struct StreamRecord {
    std::uint16_t track = 0;  // of the device, for this stream alone
    Ticks ended = 0;          // the last operator
  };
  Mutex streams_mutex_;
  std::unordered_map<void*, StreamRecord> recorded_streams_ PITWALL_GUARDED_BY(streams_mutex_);
};

}  // namespace pitwall::engine
