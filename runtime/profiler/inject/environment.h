// Settings of the injection library in the environment, set by `pitwall record` or a user; documented in
// docs/recording.md.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace pitwall::inject {

struct Environment {
  std::string path_template;      // PITWALL_TRACE; %p the process id, %r the rank, %% a percent sign
  std::string only;               // PITWALL_RECORD_ONLY: NVTX domains, separated by commas; "" = all
  std::optional<double> last_s;   // PITWALL_RECORD_LAST: seconds kept before the end
  std::optional<double> until_s;  // PITWALL_RECORD_UNTIL: seconds of CLOCK_MONOTONIC
  int rank = 0;                   // of a distributed job, from its launcher
};

// `get` is getenv except in tests. An invalid number counts as absent.
Environment readEnvironment(const std::function<const char*(const char*)>& get);

}  // namespace pitwall::inject
