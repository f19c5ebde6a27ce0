// The errors of operators that no wait has reported yet, and which variables carry them.
//
// One mutex guards everything; the engine locks it only while live() is not 0, so a program without errors
// never does. An operator that a variable or a program-order predecessor made ready sees the errors of those
// predecessors: add() and inherit() happen before the operator's completion.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "db/mutex.h"
#include "runtime/engine/variable.h"

namespace pitwall::engine {

struct ErrorRecord {
  Error error;
  bool reported = false;
};

// The errors that a variable carries; reported ones no longer count.
struct ErrorList {
  std::vector<std::shared_ptr<ErrorRecord>> records;
};

class OperatorErrors {
 public:
  // Errors not reported yet. 0 means that no operator needs to check.
  std::uint32_t live() const { return live_.load(std::memory_order_acquire); }

  // `op` failed: the variables it writes carry the error from now on.
  void add(const Operator& op, Error error);
  // Passes the errors of the variables that `op` uses to those it writes. False when there are none.
  bool inherit(const Operator& op);

  // Reports, once, the errors of `variable`, or all errors: success, the only error, or all in one message.
  Status report(VariableState& variable);
  Status reportAll();

  // The variable has ended. Its errors stay for reportAll().
  void forget(VariableState& variable);

 private:
  using Records = std::vector<std::shared_ptr<ErrorRecord>>;
  void attach(VariableState& variable, const Records& records) PITWALL_REQUIRES(mutex_);
  Status take(const Records& records) PITWALL_REQUIRES(mutex_);

  std::atomic<std::uint32_t> live_{0};
  Mutex mutex_;
  Records records_ PITWALL_GUARDED_BY(mutex_);  // not reported, oldest first
};

}  // namespace pitwall::engine
