// Runs one operator on the calling thread: errors of its inputs, its own error, exceptions, recording.
#pragma once

#include <functional>

#include "runtime/engine/error_ledger.h"
#include "runtime/engine/operator_pool.h"
#include "runtime/profiler/nvtx/operator_ranges.h"

namespace pitwall::engine {

class OperatorRunner {
 public:
  // `before_gpu_operator`: as in EngineOptions.
  OperatorRunner(Profiler& profiler, std::function<void()> before_gpu_operator);

  // Runs or skips a single operator and ends its function, so that nothing it holds outlives the operator.
  // `ready` is when it could have run, 0 = unknown.
  void run(Operator& op, Ticks ready, bool is_bulk);

  // Runs the operators of a segment in order and gives them back.
  void runSegment(Operator& segment, OperatorCache& cache);

  ErrorLedger& errors() { return errors_; }

  // Of the operator that ends a variable, under MXNet's name for it.
  OperatorId deletionFacts() const { return deletion_facts_; }

 private:
  Status call(Operator& op, bool is_bulk);
  std::string describe(OperatorId facts) const;

  Profiler& profiler_;
  const SiteId bulk_site_;
  const OperatorId deletion_facts_;
  const std::function<void()> before_gpu_operator_;
  nvtx::OperatorRanges ranges_;
  ErrorLedger errors_;
};

}  // namespace pitwall::engine
