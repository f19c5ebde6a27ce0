// Signals that a recording reads one by one instead of being interrupted by them.
#pragma once

#include <signal.h>

#include <optional>

#include "db/units.h"

namespace pitwall::record {

// While it is alive, SIGCHLD and the signals to forward are blocked, to be read one by one.
class BlockedSignals {
 public:
  BlockedSignals();
  ~BlockedSignals();
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  const sigset_t& before() const { return before_; }  // for the program
  // The next signal, or nullopt after `timeout_ns`.
  std::optional<siginfo_t> next(TimeNs timeout_ns) const;

 private:
  sigset_t taken_{}, before_{};
};

}  // namespace pitwall::record
