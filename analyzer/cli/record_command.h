// `pitwall record`: arguments and what it prints.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace pitwall::cli {

struct RecordArguments {
  std::string output;
  double sample_hz = 20;
  std::optional<double> duration_s;
  std::optional<double> last_s;
  std::vector<std::string> only_domains;
  bool onednn = false;
  bool wait_all = false;
  bool keep_parts = false;
  bool quiet = false;
};

CLI::App* addRecord(CLI::App& app, RecordArguments& arguments);

// Runs the program that the subcommand's remaining arguments name and returns its exit code, or ends as it
// did, by the same signal.
int runRecord(const RecordArguments& arguments, const std::vector<std::string>& command);

}  // namespace pitwall::cli
