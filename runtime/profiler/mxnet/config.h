// MXNet's configuration keys and MXNET_PROFILER_MODE.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "db/result.h"
#include "runtime/mxnet_profiler.h"

namespace pitwall::mxnet {

struct Config {
  bool symbolic = true, imperative = true, memory = true, api = true;
  std::string filename = "profile.json";
  bool continuous_dump = true;
  double dump_period_s = 1;
  bool aggregate_stats = false;
  bool doubled_events = false;
};

// Errors: invalidInput.
Result<Config> parseConfig(std::span<const std::pair<std::string, std::string>> values);

}  // namespace pitwall::mxnet
