#include "analyzer/record/run/signals.h"

#include <algorithm>
#include <array>

#include "analyzer/record/sample/trace_clock.h"

namespace pitwall::record {
namespace {

constexpr std::array kPassedOn = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

}  // namespace

BlockedSignals::BlockedSignals() {
  sigemptyset(&taken_);
  for (const int signal : kPassedOn) sigaddset(&taken_, signal);
  sigaddset(&taken_, SIGCHLD);
  sigaddset(&taken_, SIGWINCH);
  sigprocmask(SIG_BLOCK, &taken_, &before_);
}

BlockedSignals::~BlockedSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

std::optional<siginfo_t> BlockedSignals::next(TimeNs timeout_ns) const {
  timeout_ns = std::max<TimeNs>(0, timeout_ns);
  const timespec timeout{timeout_ns / kSecondNs, timeout_ns % kSecondNs};
  siginfo_t info{};
  if (sigtimedwait(&taken_, &info, &timeout) > 0) return info;
  return std::nullopt;
}

}  // namespace pitwall::record
