// The engines with worker threads: ThreadedEngine (one pool) and ThreadedEnginePerDevice.
//
// The path of an operator: push() builds it, locks its variables (all of them, by address, so that operators
// of several pushing threads queue in the same order everywhere), queues its accesses; when all are granted
// it is dispatched to a pool; a worker runs it, completes its accesses, and dispatches operators that become
// ready. The only locks on this path are those of the variables and the pools. An operator with a Completion
// takes the second half of this path on the thread that completes it. An operator that leaves work on a stream of a GPU
// completes its accesses when that work is on the stream; who then gets them and is no such operator is held until it is done.
#pragma once

#include <array>
#include <atomic>
#include <memory>

#include "db/mutex.h"
#include "runtime/engine/open_work.h"
#include "runtime/engine/operator_build.h"
#include "runtime/engine/operator_runner.h"
#include "runtime/engine/pool_plan.h"
#include "runtime/engine/thread_registry.h"

namespace pitwall::engine {

class ThreadedEngine final : public Engine, private OperatorExecutor, private CompletionReceiver {
 public:
  // Errors: invalidInput, io (no threads).
  static Result<std::unique_ptr<Engine>> open(const EngineOptions& options, Profiler& profiler);
  ~ThreadedEngine() override;

  Variable newVariable() override;
  void deleteVariable(Variable variable, OperatorFunction then) override;
  std::uint64_t version(Variable variable) const override;
  void push(OperatorDesc desc) override;
  Status waitForVariable(Variable variable) override;
  Status waitForAll() override;
  void stop() override;
  Status start(const EngineOptions& options) override;
  int setBulkSize(int size) override;
  EngineType type() const override { return type_; }

 private:
  using PoolSlots = std::array<std::atomic<WorkerPool*>, kMaxDevices>;

  ThreadedEngine(const EngineOptions& options, Profiler& profiler);

  // OperatorExecutor
  void enter(Worker& worker) override;
  void execute(Operator& op) override;
  void idle() override;

  // CompletionReceiver
  void completed(Operator& op, Status status) override;
  void dropped(Operator& op) override;

  BuildOptions buildOptions() const { return {profiler_.isRecording(), runner_.streams() != nullptr}; }
  void flush(ThreadState& thread);
  void submit(Operator& op, ThreadState& thread);
  std::uint32_t appendAccesses(Operator& op,
                               std::vector<Dependency>* edges) PITWALL_NO_THREAD_SAFETY_ANALYSIS;
  void dispatchFromPusher(Operator& op, ThreadState& thread);
  void letRun(Operator& op, Ticks now, ThreadState& thread);
  void letAllRun(OperatorList& ready, ThreadState& thread);
  void dispatch(Operator& op, ThreadState& thread);
  void runHere(Operator& op, ThreadState& thread);
  bool run(Operator& op, ThreadState& thread);
  bool leavesWorkOnStream(const Operator& op) const;
  bool startsBehindWork(const Operator& op) const;
  bool runOnStream(Operator& op, ThreadState& thread);
  Status enterStream(Operator& op);
  bool hold(Operator& op);
  void endOnStream(Operator& op, bool failed);
  void completeLater(Operator& op);
  void completeAccesses(const Operator& op, OperatorList& ready);
  void complete(Operator& op, ThreadState& thread);
  void blockUntilWritten(VariableState& variable, ThreadState& thread);
  void blockUntilAllDone();
  void finishAll();

  WorkerPool* poolFor(const Operator& op);
  Result<WorkerPool*> makePool(PoolKind kind, int device_index);

  // constant after construction
  const EngineType type_;
  Profiler& profiler_;
  const SiteId wait_variable_site_;
  const SiteId wait_all_site_;
  const bool prints_waits_;

  // synchronise themselves
  OperatorDepot depot_;
  VariablePool variables_;
  OperatorRunner runner_;
  OpenWorks open_works_;
  ThreadRegistry threads_;
  std::array<PoolSlots, kPoolKinds> pools_{};
  std::atomic<bool> running_{false};
  alignas(64) std::atomic<std::uint32_t> all_waiters_{0};  // threads in waitForAll
  std::atomic<std::uint32_t> all_epoch_{0};                // changes when they should check again
  std::atomic<std::uint32_t> completing_{0};               // threads that a Completion has brought here

  Mutex mutex_;
  EngineOptions options_ PITWALL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<WorkerPool>> all_pools_ PITWALL_GUARDED_BY(mutex_);
};

}  // namespace pitwall::engine
