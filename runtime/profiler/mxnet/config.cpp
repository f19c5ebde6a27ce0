#include "runtime/profiler/mxnet/config.h"

#include <charconv>
#include <cmath>

#include "db/try.h"

namespace pitwall::mxnet {

namespace {

// In the spellings of Python, C and the environment.
Status readBoolean(const std::string& key, const std::string& text, bool& into) {
  for (const char* yes : {"1", "true", "True"}) {
    if (text == yes) return into = true, Status();
  }
  for (const char* no : {"0", "false", "False"}) {
    if (text == no) return into = false, Status();
  }
  return fail(ErrorCode::invalidInput, "profiler: " + key + " is '" + text + "': true or false is needed");
}

Status readPeriod(const std::string& text, double& into) {
  double value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size() || !(value > 0) || !std::isfinite(value))
    return fail(ErrorCode::invalidInput,
                "profiler: dump_period is '" + text + "': seconds above 0 are needed");
  into = value;
  return {};
}

Status readOne(const std::string& key, const std::string& value, Config& config, bool& all) {
  const std::pair<const char*, bool*> booleans[] = {
      {"profile_all", &all},
      {"profile_symbolic", &config.symbolic},
      {"profile_imperative", &config.imperative},
      {"profile_memory", &config.memory},
      {"profile_api", &config.api},
      {"continuous_dump", &config.continuous_dump},
      {"aggregate_stats", &config.aggregate_stats},
      {"doubled_events", &config.doubled_events},
  };
  for (const auto& [name, into] : booleans) {
    if (key == name) return readBoolean(key, value, *into);
  }
  if (key == "dump_period") return readPeriod(value, config.dump_period_s);
  if (key == "filename") {
    if (value.empty()) return fail(ErrorCode::invalidInput, "profiler: filename is empty");
    config.filename = value;
    return {};
  }
  if (key == "profile_process") {
    if (value == "worker") return {};
    return fail(ErrorCode::invalidInput, "profiler: profile_process is '" + value +
                                             "': only 'worker' exists; each process records itself");
  }
  return fail(
      ErrorCode::invalidInput,
      "profiler: there is no '" + key +
          "'; known are profile_all, profile_symbolic, profile_imperative, profile_memory, profile_api, "
          "filename, continuous_dump, dump_period, aggregate_stats, profile_process, doubled_events");
}

}  // namespace

Result<Config> parseConfig(std::span<const std::pair<std::string, std::string>> values) {
  Config config;
  bool all = false;
  for (const auto& [key, value] : values) {
    PITWALL_TRY(readOne(key, value, config, all));
  }
  if (all) config.symbolic = config.imperative = config.memory = config.api = true;
  return config;
}

Result<ProfilerMode> parseProfilerMode(std::string_view text) {
  ProfilerMode mode;
  if (text.empty() || text == "0") {
    mode.imperative = mode.api = mode.memory = false;
    mode.explanation =
        "MXNET_PROFILER_MODE=0 records only the operators of symbolic graphs, as documented; 1 records all "
        "operators, and 15 (MXNet's sum of bits) memory and API calls too";
    return mode;
  }
  if (text == "1") {
    mode.api = mode.memory = false;
    mode.explanation =
        "MXNET_PROFILER_MODE=1 records all operators, as documented; MXNet 1.9.1 itself takes the 1 as a bit "
        "and "
        "records symbolic ones alone";
    return mode;
  }
  int bits = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), bits);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size() || bits < 0 || bits > 15)
    return fail(
        ErrorCode::invalidInput,
        "MXNET_PROFILER_MODE is '" + std::string(text) +
            "': 0 (symbolic operators), 1 (all operators) or a sum of 1 symbolic, 2 imperative, 4 API, 8 "
            "memory is needed");
  mode.symbolic = (bits & 1) != 0;
  mode.imperative = (bits & 2) != 0;
  mode.api = (bits & 4) != 0;
  mode.memory = (bits & 8) != 0;
  mode.explanation = "MXNET_PROFILER_MODE=" + std::string(text) +
                     " is MXNet's sum of bits: 1 symbolic, 2 imperative, 4 API, 8 memory";
  return mode;
}

}  // namespace pitwall::mxnet
