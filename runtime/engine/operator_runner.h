// Runs one operator on the calling thread: errors of its inputs, its own error, exceptions, recording.
#pragma once

#include <functional>

#include "runtime/engine/operator_errors.h"
#include "runtime/engine/operator_pool.h"
#include "runtime/profiler/nvtx/operator_ranges.h"

namespace pitwall::engine {

class OperatorRunner {
 public:
  // `before_gpu_operator`: as in EngineOptions.
  OperatorRunner(Profiler& profiler, std::function<void()> before_gpu_operator);

  // Runs or skips a single operator and destroys its function, so that nothing it holds outlives the
  // operator. `ready` is the time when it could have run, 0 = unknown.
  void run(Operator& op, Ticks ready, bool is_bulk);

  // Runs the operators of a segment in order and frees them.
  void runSegment(Operator& segment, OperatorCache& cache);

  OperatorErrors& errors() { return errors_; }

  // Facts of the operator that ends a variable, with MXNet's name.
  OperatorId deletionFacts() const { return deletion_facts_; }

 private:
  Status call(Operator& op, bool is_bulk);
  std::string describe(OperatorId facts) const;

  Profiler& profiler_;
  const SiteId bulk_site_;
  const OperatorId deletion_facts_;
  const std::function<void()> before_gpu_operator_;
  nvtx::OperatorRanges ranges_;
  OperatorErrors errors_;
};

}  // namespace pitwall::engine
