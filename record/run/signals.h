// Signals that a recording takes one by one instead of being interrupted by them.
#pragma once

#include <signal.h>

#include <optional>

#include "db/units.h"

namespace pitwall::record {

// While it lives, the signals that are passed on or tell of children are blocked, to be taken one by one.
class BlockedSignals {
 public:
  BlockedSignals();
  ~BlockedSignals();
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  const sigset_t& before() const { return before_; }  // what the program gets
  // The next of them, or nothing when `timeout_ns` have passed.
  std::optional<siginfo_t> next(TimeNs timeout_ns) const;

 private:
  sigset_t taken_{}, before_{};
};

}  // namespace pitwall::record
