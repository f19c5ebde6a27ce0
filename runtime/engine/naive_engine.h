// The engine without threads: an operator runs inside push(), on the pushing thread. For debugging, and as
// the reference in tests.
//
// Same contract as the others: errors belong to operators and surface at waits; operators pushed by several
// threads run one at a time; an operator pushed by a running operator runs after it. push() waits for an
// operator with a Completion, so the thread that completes it must not push before.
#pragma once

#include <atomic>
#include <thread>

#include "db/mutex.h"
#include "runtime/engine/operator_build.h"
#include "runtime/engine/operator_runner.h"

namespace pitwall::engine {

class NaiveEngine final : public Engine, private CompletionReceiver {
 public:
  NaiveEngine(const EngineOptions& options, Profiler& profiler);
  ~NaiveEngine() override;

  Variable newVariable() override;
  void deleteVariable(Variable variable, OperatorFunction then) override;
  std::uint64_t version(Variable variable) const override;
  void push(OperatorDesc desc) override;
  Status waitForVariable(Variable variable) override;
  Status waitForAll() override;
  void stop() override {}
  Status start(const EngineOptions& options) override;
  int setBulkSize(int size) override;
  EngineType type() const override { return EngineType::naive; }

 private:
  void pushDesc(OperatorDesc& desc, bool ends_variable);
  void run(Operator& op) PITWALL_REQUIRES(mutex_);
  void runLater(Operator& op) PITWALL_REQUIRES(mutex_);
  void completed(Operator& op, Status status) override;
  void dropped(Operator& op) override;
  void completeLater(Operator& op);
  bool isRunningHere() const {
    return runner_thread_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }

  Profiler& profiler_;
  VariablePool variables_;
  OperatorRunner runner_;
  OperatorDepot depot_;
  std::atomic<std::thread::id> runner_thread_{};  // of the operator that runs now; written under mutex_

  Mutex mutex_;  // held while operators run
  OperatorCache cache_ PITWALL_GUARDED_BY(mutex_);
  OperatorList pending_ PITWALL_GUARDED_BY(mutex_);           // pushed by the running operator
  std::vector<Dependency> edges_ PITWALL_GUARDED_BY(mutex_);  // scratch
  Ticks ended_ = 0;  // of the operator that runs now; written by the thread that completes it
  int bulk_size_ PITWALL_GUARDED_BY(mutex_) = 0;
};

}  // namespace pitwall::engine
