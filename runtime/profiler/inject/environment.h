// What `pitwall record`, or a user, tells the injection library through the environment; docs/recording.md is
// the contract.
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
  int rank = 0;                   // of a distributed job, as its launcher says
};

// `get` is getenv but in tests. A number that is none counts as absent.
Environment readEnvironment(const std::function<const char*(const char*)>& get);

}  // namespace pitwall::inject
